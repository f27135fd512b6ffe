#include "core/tree/dense_node.h"

#include "core/base/recycler.h"
#include "core/tree/batch_op.h"
#include "core/tree/paths.h"

#include <algorithm>
#include <new>
#include <utility>

namespace td {

void fail_entry(const DenseNode& holder, std::size_t i) {
  const Value& value = holder.value(i);
  const std::string_view name = holder.name(i);
  if (!value.is_node()) require_batch(name, value.tensor().sizes(), holder.batch());
  fail(Code::shape, "batch dimension mismatch: the dictionary ", show_path(name),
       " has batch size ", show_sizes(sizes_of(value)),
       ", which no longer begins with that of its parent, ", show_sizes(holder.batch()));
}

bool same_names(const DenseNode& one, const DenseNode& other) noexcept {
  if (one.schema() == other.schema()) return true;
  bool same = one.size() == other.size();
  for (std::size_t i = 0; same && i < one.size(); ++i) same = same_name(one.name(i), other.name(i));
  return same;
}

DenseNode::DenseNode(SizesView batch, std::optional<c10::Device> device)
    : DenseNode(c10::make_intrusive<Schema>(), batch, device) {}

DenseNode::DenseNode(SchemaPtr schema, SizesView batch, std::optional<c10::Device> device)
    : DenseNode(c10::make_intrusive<LeafRow>(std::move(schema)), batch, device) {}

DenseNode::DenseNode(LeafRowPtr row, SizesView batch, std::optional<c10::Device> device)
    : Node(NodeKind::dense, batch, device), row_(std::move(row)) {}

DenseNode::~DenseNode() { drop_values(); }

void* DenseNode::operator new(std::size_t) { return Recycler<sizeof(DenseNode)>::take(); }

void DenseNode::operator delete(void* memory) { Recycler<sizeof(DenseNode)>::give(memory); }

// Weak references run from a node to its holder. If they stayed until the memory is freed, freeing a deep
// tree would recurse from the leaves to the root.
void DenseNode::release_resources() {
  drop_values();
  forget_holders();
}

// Nodes that hold no others are freed without a walk. What others hold, too, is not looked at: they may change it now.
void DenseNode::drop_values() noexcept {
  const bool is_deep = std::any_of(nodes_.begin(), nodes_.end(), [](const NodeAt& one) {
    const NodePtr& node = one.value.node();
    if (!node.defined() || node.use_count() != 1) return false;
    const DenseNode* const dense = as_dense(node.get());
    return dense == nullptr || !dense->nodes_.empty();
  });
  if (is_deep) free_below(*this);
  nodes_.clear();
  row_.reset();
}

void DenseNode::collect(HeldNodes& into) const {
  need_nodes();
  for (const NodeAt& one : nodes_) {
    if (one.value.is_node()) into.push_back(one.value.node().get());
  }
}

NodePtr DenseNode::take_node() noexcept {
  while (!nodes_.empty()) {
    NodePtr node = nodes_.back().value.take_node();
    nodes_.pop_back();
    if (node.defined()) return node;
  }
  return {};
}

std::size_t DenseNode::next_now(Later later, std::size_t i) const noexcept {
  if (later == Later::nothing) return i;
  const NodeAt* const at = later == Later::all ? nodes_.end() : place_of(i);
  return at == nodes_.end() ? size() : at->slot;
}

DenseNode::View DenseNode::viewed(const LeafViewPtr& view, std::int64_t part, SizesView batch,
                                  std::optional<c10::Device> device,
                                  c10::function_ref<Sizes(SizesView)> batch_of) const {
  LeafRowPtr row;
  const std::size_t leaves = slots() - nodes_.size();
  if (view.defined() && !gaps_ && leaves != 0) row = row_->viewed(view, part, leaves);
  if (!row.defined()) {
    auto node = c10::make_intrusive<DenseNode>(shared_schema(), batch, device);
    node->reserve(size());
    return {std::move(node), Later::nothing};
  }
  auto node = c10::make_intrusive<DenseNode>(std::move(row), batch, device);
  const bool all = node->put_off_nodes(*this, view, batch_of);
  return {std::move(node), all ? Later::all : Later::leaves};
}

// They are made of what the source has now. False, and nothing is done, in rare cases: a dictionary with dictionaries
// of its own, one that has other holders, and a view of a view, whose row knows both views in one.
bool DenseNode::put_off_nodes(const DenseNode& source, const LeafViewPtr& view,
                              c10::function_ref<Sizes(SizesView)> batch_of) {
  source.need_nodes();
  const auto& row = static_cast<const ViewRow&>(*row_);
  if (row.view_ != view) return source.nodes_.empty();
  const bool fit = std::all_of(source.nodes_.begin(), source.nodes_.end(), [&](const NodeAt& one) {
    const DenseNode* const dense = one.value.is_node() ? as_dense(one.value.node().get()) : nullptr;
    return dense != nullptr && one.value.node().use_count() == 1 && !dense->tagged() &&
           !dense->gaps_ && dense->nodes_.empty() && dense->slots() != 0 &&
           begins_with(dense->batch(), source.batch()) && view->fits(*dense->row_);
  });
  if (!fit) return false;
  const std::size_t n = source.nodes_.size();
  nodes_.resize(n);
  row.nested_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto& dense = static_cast<const DenseNode&>(*source.nodes_[k].value.node());
    nodes_[k].slot = source.nodes_[k].slot;
    row.nested_[k].row = dense.row_;
    row.nested_[k].batch = batch_of(dense.batch());
    row.nested_[k].device = dense.device();
  }
  nodes_later_.store(n != 0, std::memory_order_relaxed);
  return true;
}

void DenseNode::make_nodes() const {
  const auto& row = static_cast<const ViewRow&>(*row_);
  const std::lock_guard<std::mutex> hold(row.mutex_);
  if (!nodes_later_.load(std::memory_order_relaxed)) return;
  c10::SmallVector<NodePtr, 4> made;
  for (const ViewRow::Nested& one : row.nested_) {
    made.push_back(c10::make_intrusive<DenseNode>(
        one.row->viewed(row.view_, row.part_, one.row->size()), one.batch, one.device));
  }
  for (std::size_t k = 0; k < made.size(); ++k) nodes_[k].value = Value(std::move(made[k]));
  nodes_later_.store(false, std::memory_order_release);
  row.nested_.clear();
  if (!row.source_.defined()) row.view_.reset();
}

LeafRowPtr DenseNode::own_row() {
  if (owns_row()) return {};
  need_nodes();
  return std::exchange(row_, row_->copy());
}

// Copies a shared schema without its gaps, and removes those of the values.
void DenseNode::own_schema() {
  const SchemaPtr& before = row_->own_schema();
  if (before.use_count() > 1) {
    auto copy = c10::make_intrusive<Schema>();
    for (std::size_t i = 0; i < before->size(); ++i) {
      copy->append(before->name(i), before->hash(i));
    }
    if (gaps_) close_gaps();
    row_->set_schema(std::move(copy));
  } else if (!gaps_) {
    before->close_gaps();  // it came from another dictionary
  }
}

LeafRowPtr DenseNode::prepare_erase() {
  LeafRowPtr before = own_row();
  own_schema();
  names_to_change().prepare_erase();
  return before;
}

// Of the values only.
void DenseNode::close_gaps() noexcept {
  std::size_t to = 0;
  auto* node = nodes_.begin();
  auto* kept = nodes_.begin();
  for (std::size_t slot = 0; slot < row_->size(); ++slot) {
    const bool has_node = node != nodes_.end() && node->slot == slot;
    if (!schema()->is_gap(slot)) {
      if (to != slot) row_->move_down(slot, to);
      if (has_node) *kept++ = NodeAt{to, std::move(node->value)};
      ++to;
    }
    if (has_node) ++node;
  }
  nodes_.erase(kept, nodes_.end());
  row_->cut(to);
  gaps_ = false;
}

// A moved-from SmallVector has no inline room: assigning to it allocates. A new one does not.
void DenseNode::swap_entries(DenseNode& other) noexcept {
  std::swap(row_, other.row_);
  Nodes nodes(std::move(nodes_));
  nodes_.~Nodes();
  ::new (&nodes_) Nodes(std::move(other.nodes_));
  other.nodes_.~Nodes();
  ::new (&other.nodes_) Nodes(std::move(nodes));
  std::swap(gaps_, other.gaps_);
  nodes_later_.store(other.nodes_later_.exchange(nodes_later_.load()));
}

void DenseNode::reserve(std::size_t n) {
  own_row();
  row_->reserve(n);
}

void DenseNode::push_value(Value value) {
  own_row();
  if (value.is_node()) {
    nodes_.push_back({row_->size(), std::move(value)});
    value = Value();
  }
  row_->push(std::move(value));
}

void DenseNode::set_value(std::size_t i, Value value) {
  make_room(0, value.is_node() ? 1 : 0);
  exchange(i, value);
}

void DenseNode::place(Later later, std::size_t i, Value value) {
  if (later == Later::nothing) return push_value(std::move(value));
  if (!value.is_node()) return set_value(i, std::move(value));
  if (nodes_.empty() || nodes_.back().slot < i) {  // the usual case
    nodes_.push_back({i, std::move(value)});
  } else {
    nodes_.insert(place_of(i), {i, std::move(value)});
  }
}

LeafRowPtr DenseNode::make_room(std::size_t entries, std::size_t nodes) {
  LeafRowPtr before = own_row();
  if (nodes != 0) nodes_.reserve(nodes_.size() + nodes);
  if (entries == 0) return before;
  own_schema();
  names_to_change().reserve(entries);
  const std::size_t slots = row_->size() + entries;
  if (slots > row_->capacity()) row_->reserve(std::max(slots, 2 * row_->size()));
  return before;
}

void DenseNode::add(std::string name, std::uint64_t hash, Value value) noexcept {
  names_to_change().add(std::move(name), hash);
  push_value(std::move(value));
}

void DenseNode::exchange(std::size_t i, Value& value) noexcept {
  const std::size_t at = slot(i);
  if (!value.is_node() && row_->ready(at) != nullptr) return row_->swap(at, value);
  NodeAt* const node = place_of(at);
  const bool was_node = node != nodes_.end() && node->slot == at;
  if (was_node && value.is_node()) {
    std::swap(node->value, value);
  } else if (was_node) {
    Value before = std::move(node->value);
    nodes_.erase(node);
    row_->swap(at, value);
    value = std::move(before);
  } else if (value.is_node()) {
    nodes_.insert(node, {at, std::move(value)});
    value = Value();
    row_->swap(at, value);
  } else {
    row_->swap(at, value);
  }
}

void DenseNode::put(std::string_view name, Value value) {
  const std::uint64_t hash = hash_name(name);
  const std::size_t i = schema()->find(name, hash);
  if (i != Schema::npos) {
    set_value(i, std::move(value));
    return;
  }
  std::string copy(name);
  make_room(1, value.is_node() ? 1 : 0);
  add(std::move(copy), hash, std::move(value));
}

void DenseNode::erase(std::size_t i) {
  // Both are freed at the end: memory of others may call back into this dictionary.
  const LeafRowPtr before = prepare_erase();
  const Value gone = take(i);
}

Value DenseNode::take(std::size_t i) noexcept {
  const std::size_t at = slot(i);
  Value gone;
  Schema& names = names_to_change();
  if (names.leaves_gap(at)) {
    NodeAt* const node = place_of(at);
    if (node != nodes_.end() && node->slot == at) {
      gone = std::move(node->value);  // leaves its place, so that erasing many takes linear time
    } else {
      row_->swap(at, gone);
    }
    gaps_ = true;
  } else {
    exchange(i, gone);
    row_->erase(at);
    for (NodeAt* one = place_of(at); one != nodes_.end(); ++one) --one->slot;
  }
  names.erase(i);
  if (names.has_many_gaps()) {
    close_gaps();
    names.close_gaps();
  }
  return gone;
}

NodePtr DenseNode::transform(const BatchOp& op) const {
  // Only reads, but map() takes an owning pointer.
  return map(retain(*this), op);
}

NodePtr DenseNode::shallow_copy() const {
  need_nodes();
  c10::intrusive_ptr<DenseNode> copy;
  if (gaps_) {
    copy = c10::make_intrusive<DenseNode>(shared_schema(), batch(), device());
    copy->reserve(size());
    for (std::size_t i = 0; i < size(); ++i) copy->push_value(value(i));
  } else {
    copy = c10::make_intrusive<DenseNode>(row_, batch(), device());
    copy->nodes_ = nodes_;
  }
  copy_tags(*this, *copy);
  return copy;
}

std::optional<Value> DenseNode::entry(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? std::nullopt : std::optional<Value>(*value);
}

EntryKind DenseNode::entry_kind(std::string_view name) const {
  const std::size_t i = schema()->find(name);
  if (i == Schema::npos) return EntryKind::none;
  const Value* const node = node_at(i);
  return node == nullptr ? EntryKind::tensor : kind_of(*node);
}

std::vector<std::string> DenseNode::entry_names() const {
  std::vector<std::string> names;
  names.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) names.push_back(name(i));
  return names;
}

}  // namespace td
