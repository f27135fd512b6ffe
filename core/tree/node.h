// core/tree/node.h: what a tree is made of. An entry is a leaf (a tensor) or a node.
#pragma once

#include "core/base/error.h"
#include "core/tensor/sizes.h"
#include "core/tensor/torch_compat.h"
#include "core/tree/schema.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/util/SmallVector.h>
#include <c10/util/intrusive_ptr.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace td {

class Node;
using NodePtr = c10::intrusive_ptr<Node>;
using WeakNodePtr = c10::weak_intrusive_ptr<Node>;
using HeldNodes = c10::SmallVectorImpl<Node*>;
class BatchOp;
class Changes;
class Locking;

// A tensorclass, core/tree/tensorclass.h.
class TensorclassType;
using TensorclassTypePtr = std::shared_ptr<const TensorclassType>;

// Each kind has a row in core/tree/kinds.h, which says what follows from the kind alone.
enum class NodeKind : std::uint8_t {
  dense,           // dense_node.h: names and values
  non_tensor,      // non_tensor_node.h: one non-tensor value
  lazy,            // lazy_node.h: dictionaries, stacked when read
  value_stack,     // lazy_node.h: non-tensor values, one for each element of the batch
  sub_tensordict,  // sub_node.h: a sub-tensordict; never an entry
  nested_tensor,   // nested_tensor.h: tensors of different shapes as one entry
};

// What an entry is.
enum class EntryKind { none, tensor, dict, non_tensor, nested_tensor };

// One entry of a dictionary.
class Value {
 public:
  Value() = default;
  Value(at::Tensor tensor) : tensor_(std::move(tensor)) {}  // NOLINT: an entry is either
  Value(NodePtr node) : node_(std::move(node)) {}           // NOLINT

  bool is_node() const noexcept { return node_.defined(); }
  const at::Tensor& tensor() const noexcept { return tensor_; }
  const NodePtr& node() const noexcept { return node_; }
  NodePtr take_node() noexcept { return std::move(node_); }

 private:
  at::Tensor tensor_;
  NodePtr node_;
};

// What every kind of node has. A node is shared: copies of a TensorDict speak of the same one.
//
// Threads: as a std::vector. Const functions may run side by side.
class Node : public c10::intrusive_ptr_target {
 public:
  ~Node() override;

  NodeKind kind() const noexcept { return kind_; }
  SizesView batch() const noexcept { return batch_; }
  const std::optional<c10::Device>& device() const noexcept { return device_; }
  bool locked() const noexcept { return locked_; }
  bool memmapped() const noexcept { return memmapped_; }
  bool shared() const noexcept { return shared_; }

  // What few dictionaries have and results take over: names of dimensions, and a tensorclass.
  bool tagged() const noexcept { return tagged_; }
  const Names& names() const noexcept;
  const TensorclassTypePtr& tensorclass() const noexcept;

  // The folder behind the node; empty when there is none.
  const std::string& saved_path() const noexcept;

  // Raw setters, for a node that nobody else sees yet: they check nothing and reach no nested node. A node that
  // others may see is changed through Changes (core/tree/changes.h).
  void set_batch(SizesView batch) { batch_.assign(batch.begin(), batch.end()); }
  void set_device(std::optional<c10::Device> device) { device_ = device; }
  void set_memmapped(bool memmapped) noexcept { memmapped_ = memmapped; }
  void set_shared(bool shared) noexcept { shared_ = shared; }
  void set_names(Names names);  // as many as there are batch dimensions, or none
  void set_tensorclass(TensorclassTypePtr tensorclass);
  void set_saved_path(std::string path);

  // The node that an operation on the batch dimensions makes of this one.
  virtual NodePtr transform(const BatchOp& op) const = 0;

  // A node of its own over the same content, unlocked; nested nodes are not descended into.
  virtual NodePtr shallow_copy() const = 0;

  // What the node reads as: itself, or the entries of a lazy stack or sub-tensordict read out, one level
  // deep.
  virtual NodePtr dense_form() const;

  // The entries of a dictionary; other nodes have none. core/tree/kinds.h asks.
  virtual std::optional<Value> entry(std::string_view name) const;
  virtual EntryKind entry_kind(std::string_view name) const;
  virtual std::vector<std::string> entry_names() const;

  // Whether other nodes make this one locked.
  virtual bool locked_by_others() const noexcept { return false; }

  // Adds the nodes that this one holds, and goes on holding.
  virtual void collect(HeldNodes&) const {}

  // Takes out one of the nodes that this one holds; nothing when none is left. For a node that is being freed.
  virtual NodePtr take_node() noexcept { return {}; }

 protected:
  // Frees the nodes that a node alone holds, and what they hold, without recursion and without allocating: a
  // tree may be as deep as memory allows, and is freed when there is none.
  static void free_below(Node& top) noexcept;

  // Lets go of the memory of the nodes that held this one while they were locked.
  void forget_holders() noexcept {
    if (extras_) extras_->lock_parents.clear();
  }

  Node(NodeKind kind, SizesView batch, std::optional<c10::Device> device)
      : batch_(batch.begin(), batch.end()), device_(device), kind_(kind) {
    require_dims(batch.size());
  }

 private:
  friend class Changes;
  friend class Locking;
  friend void unlock(const NodePtr& root);

  // What few nodes have.
  struct Extras {
    std::string saved_path;
    std::vector<WeakNodePtr> lock_parents;  // locked nodes that hold this one
    Names names;
    TensorclassTypePtr tensorclass;
  };
  Extras& extras();

  Sizes batch_;
  std::optional<c10::Device> device_;
  std::unique_ptr<Extras> extras_;
  NodeKind kind_;
  bool locked_ = false;
  bool memmapped_ = false;
  bool shared_ = false;
  bool tagged_ = false;
};

// An owning pointer to a node that somebody else holds, for walks that only read.
inline NodePtr retain(const Node& node) { return NodePtr::reclaim_copy(const_cast<Node*>(&node)); }

// Names of dimensions and tensorclass, for a result made by hand. Names only when both have as many
// dimensions. Costs a test of one byte when there are none.
inline void copy_tags(const Node& from, Node& to) {
  if (!from.tagged()) return;
  if (from.tensorclass()) to.set_tensorclass(from.tensorclass());
  if (!from.names().empty() && from.batch().size() == to.batch().size()) to.set_names(from.names());
}

}  // namespace td
