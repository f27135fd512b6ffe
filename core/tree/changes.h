// core/tree/changes.h: all changes to dictionaries that others can see.
// An operation first checks everything and records its changes. prepare() allocates, without a visible
// change; commit() makes all changes and cannot fail. So a failed operation changes no dictionary.
// Nodes are held by reference and must live until commit(). Replaced values are freed with the Changes.
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

  // At once. The first replaces an entry by a leaf, which needs no memory if the node owns its row; the second adds a
  // leaf under a name that the node does not have; the third removes an entry.
  static void replace_now(const DenseNode& node, std::size_t i, Value value) noexcept {
    mutable_node(node).exchange(i, value);
  }
  static void add_now(const DenseNode& node, std::string_view name, std::uint64_t hash,
                      Value value);
  static void erase_now(const DenseNode& node, std::size_t i) { mutable_node(node).erase(i); }

  // Entries. A new name is appended. Positions count before all changes. An entry that is erased and set
  // becomes a new one.
  void set(const DenseNode& node, std::string_view name, Value value);
  void set(const DenseNode& node, std::size_t i, Value value);
  void erase(const DenseNode& node, std::size_t i);

  // Replaces all entries by those of the returned node, which the caller fills.
  DenseNode& replace(const DenseNode& node);
  void replace(const DenseNode& node, c10::intrusive_ptr<DenseNode> entries);
  DenseNode& replace(const DenseNode& node, const DenseNode& entries);  // by copies of these

  // Elements of a lazy stack; also updates its batch size.
  void set_elements(const LazyNode& node, std::vector<NodePtr> elements);
  void insert(const LazyNode& node, std::size_t position, c10::ArrayRef<NodePtr> elements);

  // Replaces the tensors of a nested tensor by those of another one with the same parts.
  void set_tensors(const NestedTensorNode& node, NestedTensorPtr other);
  void set_tensors(const NestedTensorNode& node, const Node& other);

  // Attributes of a node.
  void set_batch(const Node& node, SizesView batch);
  void set_names(const Node& node, Names names);
  void set_device(const Node& node, std::optional<c10::Device> device);
  void set_tensorclass(const Node& node, TensorclassTypePtr tensorclass);
  void set_saved_path(const Node& node, std::string path);
  void set_memmapped(const Node& node, bool memmapped);
  void set_shared(const Node& node, bool shared);

  // Locks a node and all below it. Nodes put into a locked one are locked automatically.
  void lock(const NodePtr& root);

  // Writes into tensors. They may borrow, since Changes keep replaced values.
  Writes& writes() { return writes_ ? *writes_ : writes_.emplace(); }

  // The state after the changes.
  const Value* find(const DenseNode& node, std::string_view name);
  const Names& names_of(const Node& node) const noexcept;
  // Calls `f(const Value&)` for the values that a dictionary receives.
  template <class F>
  void each_set(const DenseNode& node, F&& f) const {
    for (const Set& set : sets_) {
      if (set.node == &node) f(set.value);
    }
  }

  // Performs all steps: values are written first. Only an out-of-memory error inside libtorch can interrupt
  // these writes.
  void run();

  // run() in two halves, for operations with a step of their own in between.
  void prepare();
  void commit() noexcept;

 private:
  struct Set {
    DenseNode* node;
    std::size_t position;  // npos: a new entry
    std::uint64_t hash;    // of a new entry's name
    std::string name;
    Value value;  // after commit(): the previous one
  };
  struct Erase {
    DenseNode* node;
    std::size_t position;
    Value before;
  };
  struct More;  // rare changes

  template <class T>
  static T& mutable_node(const T& node) noexcept {
    return const_cast<T&>(node);
  }
  bool erases(const DenseNode& node, std::size_t i) const noexcept;
  const Set* last_set(const DenseNode& node, std::size_t i, std::string_view name,
                      std::uint64_t hash);
  More& more();
  void keep(LeafRowPtr before) {
    if (before.defined()) rows_.push_back(std::move(before));
  }
  void prepare_sets();
  void prepare_erases();
  void prepare_more();
  void commit_more() noexcept;
  void lock_new(const Node& holder, const NodePtr& node);

  c10::SmallVector<Set, 12> sets_;
  c10::SmallVector<Erase, 2> erases_;
  std::size_t adds_ = 0;                  // number of new entries
  c10::SmallVector<LeafRowPtr, 1> rows_;  // replaced by copies
  std::optional<Writes> writes_;
  std::unique_ptr<More> more_;
};

}  // namespace td
