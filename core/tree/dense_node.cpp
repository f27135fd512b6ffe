#include "core/tree/dense_node.h"

#include "core/base/recycler.h"
#include "core/tree/batch_op.h"
#include "core/tree/paths.h"

#include <algorithm>
#include <new>

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
    : Node(NodeKind::dense, batch, device), schema_(std::move(schema)) {}

DenseNode::~DenseNode() { drop_values(); }

void* DenseNode::operator new(std::size_t) { return Recycler<sizeof(DenseNode)>::take(); }

void DenseNode::operator delete(void* memory) { Recycler<sizeof(DenseNode)>::give(memory); }

// Weak references run from a node to its holder. If they stayed until the memory is freed, freeing a deep
// tree would recurse from the leaves to the root.
void DenseNode::release_resources() {
  drop_values();
  forget_holders();
}

void DenseNode::drop_values() noexcept {
  bool nested = false;
  for (const Value& value : values_) nested = nested || value.is_node();
  if (nested) free_below(*this);
  values_.clear();
}

void DenseNode::collect(HeldNodes& into) const {
  for (const Value& value : values_) {
    if (value.is_node()) into.push_back(value.node().get());
  }
}

NodePtr DenseNode::take_node() noexcept {
  while (!values_.empty()) {
    NodePtr node = values_.back().take_node();
    values_.pop_back();
    if (node.defined()) return node;
  }
  return {};
}

// Copies a shared schema without its gaps, and removes those of the values.
void DenseNode::own_schema() {
  if (schema_.use_count() > 1) {
    auto copy = c10::make_intrusive<Schema>();
    for (std::size_t i = 0; i < schema_->size(); ++i) {
      copy->append(schema_->name(i), schema_->hash(i));
    }
    if (gaps_) close_gaps();
    schema_ = std::move(copy);
  } else if (!gaps_) {
    schema_->close_gaps();  // it came from another dictionary
  }
}

void DenseNode::prepare_erase() {
  own_schema();
  schema_->prepare_erase();
}

// Of the values only.
void DenseNode::close_gaps() noexcept {
  std::size_t to = 0;
  for (std::size_t slot = 0; slot < values_.size(); ++slot) {
    if (schema_->is_gap(slot)) continue;
    if (to != slot) values_[to] = std::move(values_[slot]);
    ++to;
  }
  values_.erase(values_.begin() + to, values_.end());
  gaps_ = false;
}

// A moved-from SmallVector has no inline room: assigning to it allocates. A new one does not.
void DenseNode::swap_entries(DenseNode& other) noexcept {
  using Values = decltype(values_);
  std::swap(schema_, other.schema_);
  Values values(std::move(values_));
  values_.~Values();
  ::new (&values_) Values(std::move(other.values_));
  other.values_.~Values();
  ::new (&other.values_) Values(std::move(values));
  std::swap(gaps_, other.gaps_);
}

void DenseNode::make_room(std::size_t n) {
  own_schema();
  schema_->reserve(n);
  const std::size_t slots = values_.size() + n;
  if (slots > values_.capacity()) values_.reserve(std::max(slots, 2 * values_.size()));
}

void DenseNode::add(std::string name, std::uint64_t hash, Value value) noexcept {
  schema_->add(std::move(name), hash);
  values_.push_back(std::move(value));
}

void DenseNode::put(std::string_view name, Value value) {
  const std::uint64_t hash = hash_name(name);
  const std::size_t i = schema_->find(name, hash);
  if (i != Schema::npos) {
    set_value(i, std::move(value));
    return;
  }
  std::string copy(name);
  make_room(1);
  add(std::move(copy), hash, std::move(value));
}

void DenseNode::erase(std::size_t i) {
  prepare_erase();
  take(i);
}

Value DenseNode::take(std::size_t i) noexcept {
  const std::size_t at = slot(i);
  Value gone = std::move(values_[at]);
  if (schema_->leaves_gap(at)) {
    values_[at] = Value();
    gaps_ = true;
  } else {
    values_.erase(values_.begin() + at);
  }
  schema_->erase(i);
  if (schema_->has_many_gaps()) {
    close_gaps();
    schema_->close_gaps();
  }
  return gone;
}

NodePtr DenseNode::transform(const BatchOp& op) const {
  // Only reads, but map() takes an owning pointer.
  return map(retain(*this), op);
}

NodePtr DenseNode::shallow_copy() const {
  auto copy = c10::make_intrusive<DenseNode>(schema_, batch(), device());
  copy->reserve(size());
  for (std::size_t i = 0; i < size(); ++i) copy->push_value(value(i));
  copy_tags(*this, *copy);
  return copy;
}

std::optional<Value> DenseNode::entry(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? std::nullopt : std::optional<Value>(*value);
}

EntryKind DenseNode::entry_kind(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? EntryKind::none : kind_of(*value);
}

std::vector<std::string> DenseNode::entry_names() const {
  std::vector<std::string> names;
  names.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) names.push_back(name(i));
  return names;
}

}  // namespace td
