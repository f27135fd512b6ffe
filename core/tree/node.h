// core/tree/node.h: what a tree is made of. An entry is a leaf (a tensor) or a node.
#pragma once

#include "core/base/error.h"
#include "core/base/sizes.h"
#include "core/tree/schema.h"
#include "core/base/torch_compat.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/util/SmallVector.h>
#include <c10/util/intrusive_ptr.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

class Node;
using NodePtr = c10::intrusive_ptr<Node>;
using WeakNodePtr = c10::weak_intrusive_ptr<Node>;
using NodeList = c10::SmallVectorImpl<NodePtr>;
class BatchOp;

// A record type, core/tree/tensorclass.h.
class RecordType;
using RecordTypePtr = std::shared_ptr<const RecordType>;

enum class NodeKind : std::uint8_t {
  dense,   // DenseNode: names and values
  data,    // DataNode: one value that is no tensor
  lazy,    // LazyNode: dictionaries, or values that are no tensors, stacked when read
  part,    // PartNode: a window on a part of another dictionary; never an entry
  ragged,  // RaggedNode: tensors of different shapes as one entry, core/tree/nested_tensor.h
};

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

  // What few dictionaries have and results take over: names of dimensions, and a record type.
  bool tagged() const noexcept { return tagged_; }
  const Names& names() const noexcept;
  const RecordTypePtr& record() const noexcept;

  // The folder behind the node; empty when there is none.
  const std::string& saved_path() const noexcept;

  // Raw setters, for the core only: they check nothing and reach no nested node.
  void set_batch(SizesView batch) { batch_.assign(batch.begin(), batch.end()); }
  void set_device(std::optional<c10::Device> device) { device_ = device; }
  void set_memmapped(bool memmapped) noexcept { memmapped_ = memmapped; }
  void set_shared(bool shared) noexcept { shared_ = shared; }
  void set_names(Names names);  // as many as there are batch dimensions, or none
  void set_record(RecordTypePtr record);
  void set_saved_path(std::string path);

  // The node that an operation on the batch dimensions makes of this one.
  virtual NodePtr transform(const BatchOp& op) const = 0;

  // A node of its own over the same content, unlocked; nested nodes are not descended into.
  virtual NodePtr shallow_copy() const = 0;

  // Adds the nodes that this one holds.
  virtual void collect(NodeList&) const {}

  // Puts aside the nodes that this one alone may be holding, so that freeing needs no recursion.
  virtual void surrender(NodeList&) noexcept {}

 protected:
  // Lets go of the memory of the nodes that held this one while they were locked.
  void forget_holders() noexcept {
    if (extras_) extras_->lock_parents.clear();
  }

  Node(NodeKind kind, SizesView batch, std::optional<c10::Device> device)
      : batch_(batch.begin(), batch.end()), device_(device), kind_(kind) {}

 private:
  friend void lock(const NodePtr& root);
  friend void unlock(const NodePtr& root);

  // What few nodes have.
  struct Extras {
    std::string saved_path;
    std::vector<WeakNodePtr> lock_parents;  // locked nodes that hold this one
    Names names;
    RecordTypePtr record;
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

// A dictionary that holds its values.
class DenseNode final : public Node {
 public:
  DenseNode(SizesView batch, std::optional<c10::Device> device);
  DenseNode(SchemaPtr schema, SizesView batch, std::optional<c10::Device> device);
  ~DenseNode() override;
  static void* operator new(std::size_t);
  static void operator delete(void* memory);

  std::size_t size() const noexcept { return values_.size(); }
  const SchemaPtr& schema() const noexcept { return schema_; }
  const std::string& name(std::size_t i) const noexcept { return schema_->name(i); }
  const Value& value(std::size_t i) const noexcept { return values_[i]; }

  // The entry of a name, or nullptr.
  const Value* find(std::string_view name) const noexcept {
    const std::size_t i = schema_->find(name);
    return i == Schema::npos ? nullptr : &values_[i];
  }

  // Raw changes, for the core only: no check of batch size, device, lock or cycles.
  void reserve(std::size_t n) { values_.reserve(n); }
  void push_value(Value value) { values_.push_back(std::move(value)); }  // next name of the schema
  void set_value(std::size_t i, Value value) { values_[i] = std::move(value); }
  void put(std::string_view name, Value value);  // replaces or appends
  void erase(std::size_t i);                     // cannot fail after own_schema()
  void own_schema();                             // before a change of names
  void swap_entries(DenseNode& other);  // names and values; cannot fail after reserve() of both

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;
  void collect(NodeList& into) const override;
  void surrender(NodeList& pending) noexcept override;

  // Called by intrusive_ptr when the last owner goes while weak references are left.
  void release_resources() override;

 private:
  void drop_values() noexcept;

  SchemaPtr schema_;
  c10::SmallVector<Value, 6> values_;
};

// A value that is no tensor, for the whole batch. It is kept as JSON text.
class DataNode final : public Node {
 public:
  DataNode(std::string json, SizesView batch, std::optional<c10::Device> device)
      : Node(NodeKind::data, batch, device), json_(std::move(json)) {}

  const std::string& json() const noexcept { return json_; }

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;

 private:
  std::string json_;
};

inline DenseNode* as_dense(Node* node) noexcept {
  return node->kind() == NodeKind::dense ? static_cast<DenseNode*>(node) : nullptr;
}
inline const DenseNode* as_dense(const Node* node) noexcept {
  return node->kind() == NodeKind::dense ? static_cast<const DenseNode*>(node) : nullptr;
}

// An owning pointer to a node that somebody else holds, for walks that only read.
inline NodePtr borrow(const Node& node) { return NodePtr::reclaim_copy(const_cast<Node*>(&node)); }

// The lock graph: see docs/design/ownership.md. Both throw before anything has changed.
void lock(const NodePtr& root);
void unlock(const NodePtr& root);

}  // namespace td
