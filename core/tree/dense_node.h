// core/tree/dense_node.h: a dictionary that holds its entries: a row of names and leaves, and nodes.
#pragma once

#include "core/tensor/assign.h"
#include "core/tree/leaf_row.h"
#include "core/tree/node.h"

#include <c10/util/FunctionRef.h>

#include <algorithm>
#include <atomic>

namespace td {

class DenseNode final : public Node {
 public:
  DenseNode(SizesView batch, std::optional<c10::Device> device);
  DenseNode(SchemaPtr schema, SizesView batch, std::optional<c10::Device> device);
  DenseNode(LeafRowPtr row, SizesView batch, std::optional<c10::Device> device);
  ~DenseNode() override;
  static void* operator new(std::size_t);
  static void operator delete(void* memory);

  std::size_t size() const noexcept { return gaps_ ? schema()->size() : slots(); }
  const Schema* schema() const noexcept { return row_->schema(); }
  SchemaPtr shared_schema() const { return row_->shared_schema(); }
  const std::string& name(std::size_t i) const noexcept { return schema()->name(i); }
  // Makes the leaf of a view, which needs memory.
  const Value& value(std::size_t i) const { return value_at(slot(i)); }

  const Value* find(std::string_view name) const {
    const std::size_t i = schema()->find(name);
    return i == Schema::npos ? nullptr : &value(i);
  }

  // The node at a position, or null for a leaf, which is not made.
  const Value* node_at(std::size_t i) const { return find_node(slot(i)); }
  // What of a view is made when it is first read.
  enum class Later : std::uint8_t { nothing, leaves, all };
  struct View {
    c10::intrusive_ptr<DenseNode> node;  // new
    Later later;                         // the rest has to be pushed or, behind leaves, placed
  };
  // `batch_of`: the result's sizes for a nested dictionary.
  View viewed(const LeafViewPtr& view, std::int64_t part, SizesView batch,
              std::optional<c10::Device> device,
              c10::function_ref<Sizes(SizesView)> batch_of) const;
  // The first position from `i` on that is not made later; size() if no more follow.
  std::size_t next_now(Later later, std::size_t i) const noexcept;

  // Whether no other dictionary has the same row, and all leaves are made: entries are exchanged without memory.
  bool owns_row() const noexcept { return row_.use_count() == 1 && !row_->is_view(); }
  const LeafRowPtr& row() const noexcept { return row_; }

  // Raw changes, for a dictionary that others cannot see yet: without checks. Otherwise use Changes
  // (core/tree/changes.h).
  void reserve(std::size_t n);
  void push_value(Value value);  // for the schema's next name
  void set_value(std::size_t i, Value value);
  void put(std::string_view name, Value value);  // replaces or appends
  void erase(std::size_t i);
  void swap_entries(DenseNode& other) noexcept;  // names and values
  // Where the source of a view has an entry; what is made later has its place already.
  void place(Later later, std::size_t i, Value value);

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
  Schema& names_to_change() noexcept { return *row_->own_schema(); }
  std::size_t slot(std::size_t i) const noexcept { return gaps_ ? schema()->slot(i) : i; }
  std::size_t slots() const noexcept { return row_->size(); }
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
  const Value* find_node(std::size_t slot) const {
    if (nodes_.empty()) return nullptr;
    const NodeAt* const at = place_of(slot);
    if (at == nodes_.end() || at->slot != slot) return nullptr;
    need_nodes();
    return &at->value;
  }
  bool put_off_nodes(const DenseNode& source, const LeafViewPtr& view,
                     c10::function_ref<Sizes(SizesView)> batch_of);
  void need_nodes() const {
    if (nodes_later_.load(std::memory_order_acquire)) make_nodes();
  }
  void make_nodes() const;
  const Value& value_at(std::size_t slot) const {
    if (const Value* const leaf = row_->ready(slot)) return *leaf;  // the usual case
    const Value* const node = find_node(slot);
    return node != nullptr ? *node : row_->at(slot);
  }

  LeafRowPtr row_;       // the names, and the leaves by position, or
  bool gaps_ = false;    // by slot of the schema, which is then not shared
  mutable Nodes nodes_;  // by place; their places in the row are empty
  // Whether they are made later: they have their places, and the row knows the rest.
  mutable std::atomic<bool> nodes_later_{false};
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
