// core/tree/node.h: the nodes of a tree. An entry is a leaf (a tensor) or a node.
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

// core/tree/kinds.h has a row for each kind, with its properties.
enum class NodeKind : std::uint8_t {
  dense,           // dense_node.h: names and values
  non_tensor,      // non_tensor_node.h: one non-tensor value
  lazy,            // lazy_node.h: dictionaries, stacked when read
  value_stack,     // lazy_node.h: non-tensor values, one for each element of the batch
  sub_tensordict,  // sub_node.h: a sub-tensordict; never an entry
  nested_tensor,   // nested_tensor.h: tensors of different shapes as one entry
};

// Kinds of entries.
enum class EntryKind { none, tensor, dict, non_tensor, nested_tensor };

// One entry of a dictionary.
class Value {
 public:
  Value() = default;
  Value(at::Tensor tensor) : tensor_(std::move(tensor)) {}  // NOLINT: implicit by design
  Value(NodePtr node) : node_(std::move(node)) {}           // NOLINT

  bool is_node() const noexcept { return node_.defined(); }
  const at::Tensor& tensor() const noexcept { return tensor_; }
  const NodePtr& node() const noexcept { return node_; }
  NodePtr take_node() noexcept { return std::move(node_); }

 private:
  at::Tensor tensor_;
  NodePtr node_;
};

// The base of all nodes. Nodes are shared: copies of a TensorDict refer to the same one.
// Threads: as for std::vector, const functions may run concurrently.
class Node : public c10::intrusive_ptr_target {
 public:
  ~Node() override;

  NodeKind kind() const noexcept { return kind_; }
  SizesView batch() const noexcept { return batch_; }
  const std::optional<c10::Device>& device() const noexcept { return device_; }
  bool locked() const noexcept { return locked_; }
  bool memmapped() const noexcept { return memmapped_; }
  bool shared() const noexcept { return shared_; }

  // Rare attributes that results inherit: dimension names and a tensorclass.
  bool tagged() const noexcept { return tagged_; }
  const Names& names() const noexcept;
  const TensorclassTypePtr& tensorclass() const noexcept;

  // The folder of the node; empty if it has no folder.
  const std::string& saved_path() const noexcept;

  // Raw setters, for a node that others cannot see yet: without checks or effects on nested nodes. Otherwise
  // use Changes (core/tree/changes.h).
  void set_batch(SizesView batch) {
    require_dims(batch.size());
    batch_.assign(batch.begin(), batch.end());
  }
  void set_device(std::optional<c10::Device> device) { device_ = device; }
  void set_memmapped(bool memmapped) noexcept { memmapped_ = memmapped; }
  void set_shared(bool shared) noexcept { shared_ = shared; }
  void set_names(Names names);  // one for each batch dimension, or empty
  void set_tensorclass(TensorclassTypePtr tensorclass);
  void set_saved_path(std::string path);

  // Applies an operation on batch dimensions.
  virtual NodePtr transform(const BatchOp& op) const = 0;

  // A new, unlocked node with the same content; shares nested nodes.
  virtual NodePtr shallow_copy() const = 0;

  // What the node reads as: itself, or the entries of a lazy stack or sub-tensordict, read one level deep.
  virtual NodePtr dense_form() const;

  // The entries of a dictionary; other nodes have no entries. Called through core/tree/kinds.h.
  virtual std::optional<Value> entry(std::string_view name) const;
  virtual EntryKind entry_kind(std::string_view name) const;
  virtual std::vector<std::string> entry_names() const;

  // Whether other nodes lock this one.
  virtual bool locked_by_others() const noexcept { return false; }

  // Appends the nodes that this one holds.
  virtual void collect(HeldNodes&) const {}

  // Removes and returns one of the held nodes, or null. For a node that is being freed.
  virtual NodePtr take_node() noexcept { return {}; }

 protected:
  // Frees all nodes held only by this one, transitively, without recursion or allocation: a tree may be
  // arbitrarily deep, and is freed when memory is exhausted.
  static void free_below(Node& top) noexcept;

  // Frees the memory of expired lock parents.
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

  // Rare attributes.
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

// An owning pointer to a node with another holder, for walks that only read.
inline NodePtr retain(const Node& node) { return NodePtr::reclaim_copy(const_cast<Node*>(&node)); }

// Copies dimension names (if the number of dimensions is the same) and tensorclass to a result. Tests one
// byte if there are no tags.
inline void copy_tags(const Node& from, Node& to) {
  if (!from.tagged()) return;
  if (from.tensorclass()) to.set_tensorclass(from.tensorclass());
  if (!from.names().empty() && from.batch().size() == to.batch().size()) to.set_names(from.names());
}

}  // namespace td
