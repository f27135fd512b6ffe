// core/tree/changes.h: the one way in which dictionaries that others can see are changed.
//
// An operation looks at everything first and notes down what is to be done. prepare() gets all memory that this
// takes, and changes nothing that can be seen; commit() makes all changes and cannot fail. So whatever fails
// leaves every dictionary as it was.
//
// Nodes are named by reference: they must live until commit(). What was replaced is freed with the Changes.
#pragma once

#include "core/tensor/writes.h"
#include "core/tree/dense_node.h"
#include "core/tree/lazy_node.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace td {

class NestedTensorNode;
using NestedTensorPtr = c10::intrusive_ptr<NestedTensorNode>;

class Changes {
 public:
  Changes() noexcept;
  ~Changes();
  Changes(const Changes&) = delete;
  Changes& operator=(const Changes&) = delete;

  // A change of one entry that is there, at once: it takes no memory.
  static void replace_now(const DenseNode& node, std::size_t i, Value value) noexcept {
    mutable_node(node).exchange(i, value);
  }

  // Entries. A new name goes behind the others. Positions are those of before all changes. An entry that was
  // erased and is set again is a new one.
  void set(const DenseNode& node, std::string_view name, Value value);
  void set(const DenseNode& node, std::size_t i, Value value);
  void erase(const DenseNode& node, std::size_t i);
  void erase(const DenseNode& node, std::string_view name);  // if it is there

  // All entries: the node will have those of the result, which the caller fills.
  DenseNode& replace(const DenseNode& node);
  void replace(const DenseNode& node, c10::intrusive_ptr<DenseNode> entries);

  // Elements of a lazy stack; its batch size follows.
  void set_elements(const LazyNode& node, std::vector<NodePtr> elements);
  void insert(const LazyNode& node, std::size_t position, c10::ArrayRef<NodePtr> elements);

  // The tensors of a nested tensor become those of another one of the same parts.
  void set_tensors(const NestedTensorNode& node, NestedTensorPtr other);

  // What is known of a node.
  void set_batch(const Node& node, SizesView batch);
  void set_names(const Node& node, Names names);
  void set_device(const Node& node, std::optional<c10::Device> device);
  void set_tensorclass(const Node& node, TensorclassTypePtr tensorclass);
  void set_saved_path(const Node& node, std::string path);
  void set_memmapped(const Node& node, bool memmapped);
  void set_shared(const Node& node, bool shared);

  // Locks a node and all below it. Nodes that are put into a locked one are locked without being asked for.
  void lock(const NodePtr& root);

  // Values that are written into tensors. Changes keep what they replace: writes need not own it.
  Writes& writes() { return writes_ ? *writes_ : writes_.emplace(); }

  // How things will be.
  const Value* find(const DenseNode& node, std::string_view name);
  const Names& names_of(const Node& node) const noexcept;
  // Calls `f(const Value&)` for the entries that a dictionary gets.
  template <class F>
  void each_set(const DenseNode& node, F&& f) const {
    for (const Set& set : sets_) {
      if (set.node == &node) f(set.value);
    }
  }

  // All steps. Values are written before anything else changes; only a lack of memory inside libtorch can stop
  // them half way.
  void run();

  // The same, for an operation with a step of its own between them.
  void prepare();
  void commit() noexcept;

 private:
  struct Set {
    DenseNode* node;
    std::size_t position;  // npos: a new entry
    std::uint64_t hash;    // of the name of a new entry
    std::string name;
    Value value;  // after commit() the one of before
  };
  struct Erase {
    DenseNode* node;
    std::size_t position;
    Value before;
  };
  struct More;  // what few operations change

  template <class T>
  static T& mutable_node(const T& node) noexcept {
    return const_cast<T&>(node);
  }
  bool erases(const DenseNode& node, std::size_t i) const noexcept;
  const Set* last_set(const DenseNode& node, std::size_t i, std::string_view name,
                      std::uint64_t hash);
  More& more();
  void prepare_sets();
  void prepare_erases();
  void prepare_more();
  void commit_more() noexcept;
  void lock_new(const Node& holder, const NodePtr& node);

  c10::SmallVector<Set, 12> sets_;
  c10::SmallVector<Erase, 2> erases_;
  std::size_t adds_ = 0;  // sets of new entries
  std::optional<Writes> writes_;
  std::unique_ptr<More> more_;
};

}  // namespace td
