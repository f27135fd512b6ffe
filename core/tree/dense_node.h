// core/tree/dense_node.h: a dictionary that holds its entries: a schema, a row of leaves, and nodes.
#pragma once

#include "core/tensor/assign.h"
#include "core/tree/leaf_row.h"
#include "core/tree/node.h"
#include "core/tree/schema.h"

#include <algorithm>

namespace td {

class DenseNode final : public Node {
 public:
  DenseNode(SizesView batch, std::optional<c10::Device> device);
  DenseNode(SchemaPtr schema, SizesView batch, std::optional<c10::Device> device);
  ~DenseNode() override;
  static void* operator new(std::size_t);
  static void operator delete(void* memory);

  std::size_t size() const noexcept { return gaps_ ? schema_->size() : slots(); }
  const SchemaPtr& schema() const noexcept { return schema_; }
  const std::string& name(std::size_t i) const noexcept { return schema_->name(i); }
  // Makes the leaf of a view, which needs memory.
  const Value& value(std::size_t i) const { return value_at(slot(i)); }

  const Value* find(std::string_view name) const {
    const std::size_t i = schema_->find(name);
    return i == Schema::npos ? nullptr : &value(i);
  }

  // The node at a position, or null for a leaf, which is not made.
  const Value* node_at(std::size_t i) const noexcept { return find_node(slot(i)); }
  // The first position from `i` on that has a node; size() if no more follow. For a dictionary of a view.
  std::size_t next_node(std::size_t i) const noexcept;

  // The leaves, for a view of them; null if they have to be made at once.
  LeafRowPtr viewed(const LeafViewPtr& view, std::int64_t part = 0) const;
  // Whether no other dictionary has the same row, and all leaves are made: entries are exchanged without memory.
  bool owns_row() const noexcept {
    return row_.defined() && row_.use_count() == 1 && !row_->is_view();
  }
  const LeafRowPtr& row() const noexcept { return row_; }  // may be null

  // Raw changes, for a dictionary that others cannot see yet: without checks. Otherwise use Changes
  // (core/tree/changes.h).
  void reserve(std::size_t n);
  void push_value(Value value);  // for the schema's next name
  void set_value(std::size_t i, Value value);
  void put(std::string_view name, Value value);  // replaces or appends
  void erase(std::size_t i);
  void swap_entries(DenseNode& other) noexcept;  // names and values
  // For a new dictionary: the leaves of a view, then what is where the source has nodes.
  void set_row(LeafRowPtr row) noexcept { row_ = std::move(row); }
  void place(std::size_t i, Value value);

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

  // add() cannot fail after make_room(), nor take() after prepare_erase(), nor exchange() after either. Both
  // return the row that a copy has replaced, or null.
  LeafRowPtr make_room(std::size_t entries,
                       std::size_t nodes);  // `nodes`: how many of all values are nodes
  void add(std::string name, std::uint64_t hash, Value value) noexcept;
  void exchange(std::size_t i, Value& value) noexcept;
  LeafRowPtr prepare_erase();
  Value take(std::size_t i) noexcept;

  void own_schema();     // call before changing names
  LeafRowPtr own_row();  // call before changing values
  std::size_t slot(std::size_t i) const noexcept { return gaps_ ? schema_->slot(i) : i; }
  std::size_t slots() const noexcept { return row_.defined() ? row_->size() : 0; }
  void drop_values() noexcept;
  void close_gaps() noexcept;

  struct NodeAt {
    std::size_t slot;
    Value value;
  };
  using Nodes = c10::SmallVector<NodeAt, 2>;
  NodeAt* place_of(std::size_t slot) const noexcept {
    return const_cast<NodeAt*>(
        std::lower_bound(nodes_.begin(), nodes_.end(), slot,
                         [](const NodeAt& one, std::size_t at) { return one.slot < at; }));
  }
  const Value* find_node(std::size_t slot) const noexcept {
    if (nodes_.empty()) return nullptr;
    const NodeAt* const at = place_of(slot);
    return at == nodes_.end() || at->slot != slot ? nullptr : &at->value;
  }
  const Value& value_at(std::size_t slot) const {
    if (const Value* const leaf = row_->ready(slot)) return *leaf;  // the usual case
    const Value* const node = find_node(slot);
    return node != nullptr ? *node : row_->at(slot);
  }

  SchemaPtr schema_;
  LeafRowPtr row_;     // the leaves, by position, or
  bool gaps_ = false;  // by slot of the schema, which is then not shared
  Nodes nodes_;        // by place; their places in the row are empty
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
