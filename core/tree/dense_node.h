// core/tree/dense_node.h: a dictionary that holds its entries: a schema and a row of values.
#pragma once

#include "core/tensor/assign.h"
#include "core/tree/node.h"
#include "core/tree/schema.h"

namespace td {

class DenseNode final : public Node {
 public:
  DenseNode(SizesView batch, std::optional<c10::Device> device);
  DenseNode(SchemaPtr schema, SizesView batch, std::optional<c10::Device> device);
  ~DenseNode() override;
  static void* operator new(std::size_t);
  static void operator delete(void* memory);

  std::size_t size() const noexcept { return gaps_ ? schema_->size() : values_.size(); }
  const SchemaPtr& schema() const noexcept { return schema_; }
  const std::string& name(std::size_t i) const noexcept { return schema_->name(i); }
  const Value& value(std::size_t i) const noexcept { return values_[slot(i)]; }

  const Value* find(std::string_view name) const noexcept {
    const std::size_t i = schema_->find(name);
    return i == Schema::npos ? nullptr : &value(i);
  }

  // Raw changes, for a dictionary that others cannot see yet: without checks. Otherwise use Changes
  // (core/tree/changes.h).
  void reserve(std::size_t n) { values_.reserve(n); }
  void push_value(Value value) {
    values_.push_back(std::move(value));
  }  // for the schema's next name
  void set_value(std::size_t i, Value value) { values_[slot(i)] = std::move(value); }
  void put(std::string_view name, Value value);  // replaces or appends
  void erase(std::size_t i);
  void swap_entries(DenseNode& other) noexcept;  // names and values

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;
  std::optional<Value> entry(std::string_view name) const override;
  EntryKind entry_kind(std::string_view name) const override;
  std::vector<std::string> entry_names() const override;
  void collect(HeldNodes& into) const override;
  NodePtr take_node() noexcept override;

  // Called by intrusive_ptr when the last owner is gone but weak references remain.
  void release_resources() override;

 private:
  friend class Changes;

  // add() cannot fail after make_room(), nor take() after prepare_erase().
  void make_room(std::size_t n);  // for n more entries
  void add(std::string name, std::uint64_t hash, Value value) noexcept;
  void exchange(std::size_t i, Value& value) noexcept { std::swap(values_[slot(i)], value); }
  void prepare_erase();
  Value take(std::size_t i) noexcept;

  void own_schema();  // call before changing names
  std::size_t slot(std::size_t i) const noexcept { return gaps_ ? schema_->slot(i) : i; }
  void drop_values() noexcept;
  void close_gaps() noexcept;

  SchemaPtr schema_;
  c10::SmallVector<Value, 6> values_;  // by position, or
  bool gaps_ = false;                  // by slot of the schema, which is then not shared
};

// Code::shape for an entry that does not start with its dictionary's batch size: a nested dictionary's batch
// size can change through another handle, parent or file. Operations that move batch dimensions check each
// entry.
[[noreturn]] void fail_entry(const DenseNode& holder, std::size_t i);
inline SizesView sizes_of(const Value& value) {
  return value.is_node() ? value.node()->batch() : value.tensor().sizes();
}
inline void require_entry(const DenseNode& holder, std::size_t i) {
  if (!begins_with(sizes_of(holder.value(i)), holder.batch())) fail_entry(holder, i);
}

// Whether both have the same names in the same order.
bool same_names(const DenseNode& one, const DenseNode& other) noexcept;

inline DenseNode* as_dense(Node* node) noexcept {
  return node->kind() == NodeKind::dense ? static_cast<DenseNode*>(node) : nullptr;
}
inline const DenseNode* as_dense(const Node* node) noexcept {
  return node->kind() == NodeKind::dense ? static_cast<const DenseNode*>(node) : nullptr;
}

}  // namespace td
