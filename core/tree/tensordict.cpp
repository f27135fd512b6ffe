#include "core/tree/tensordict.h"

#include "core/base/recursion_guard.h"
#include "core/formats/json_text.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/foreign.h"
#include "core/tensor/writes.h"
#include "core/tree/engine.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/sub_tensordict.h"
#include "core/tree/tensorclass.h"
#include "core/tree/traverse.h"

#include <algorithm>

namespace td {

namespace {

void require_sizes(SizesView batch) {
  for (const std::int64_t size : batch) {
    if (size < 0) fail(Code::shape, "batch size ", show_sizes(batch), " has a negative size");
  }
}

}  // namespace

TensorDict::TensorDict(SizesView batch, std::optional<c10::Device> device) {
  require_sizes(batch);
  if (device) device = resolve_device(*device);
  node_ = c10::make_intrusive<DenseNode>(batch, device);
}

bool TensorDict::is_empty() const {
  return !visit_nodes(node_, [](const Node& node) -> bool {
    bool content = is_opaque(node);
    for_each_leaf(node, [&](const at::Tensor&) { content = true; });
    return content;
  });
}

// Counts a shared dictionary for each path, but visits it once.
std::size_t TensorDict::nbytes() const {
  const NodePtr root = part_form(node_);
  return sum_of_paths(root, [](const Node& node) {
    std::size_t bytes = 0;
    for_each_leaf(node, [&](const at::Tensor& leaf) { bytes += bytes_of(leaf); });
    return bytes;
  });
}

namespace {

// A dictionary of one entry with the batch size of a sub-tensordict, to write to its part.
TensorDict one_entry(const SubTensorDictNode& part, Path path, const Value& value) {
  check_path(path);
  TensorDict one(part.batch());
  Changes changes;
  plan_set(changes, one.node(), path, value);
  changes.run();
  return one;
}

void set_new_part(const SubTensorDictNode& part, Path path, const Value& value) {
  if (look_up(part.parent(), path)) {
    fail(Code::key_exists, "cannot replace ", show_path(path),
         " in a sub-tensordict: write to it in place instead");
  }
  write_part(TensorDict(part.parent()), part.items(), one_entry(part, path, value));
}

// The dictionary that holds the last name of a path: if those on the way hold their entries, and it is not locked and has
// no names, class or path; else null.
const DenseNode* plain_holder(const NodePtr& root, Path path) {
  if (path.empty()) return nullptr;
  const Node* at = root.get();
  if (path.size() > 1) {
    const Value* const inner = find_stored(root, path.slice(0, path.size() - 1));
    if (inner == nullptr || !inner->is_node()) return nullptr;
    at = inner->node().get();
  }
  const DenseNode* const node = as_dense(at);
  return node == nullptr || node->locked() || node->tagged() ? nullptr : node;
}

// Plans writes to the stored tensors of an entry: one, or one for each element of lazy stacks.
void stored_leaves(const NodePtr& root, Path path, const at::Tensor& value, Writes& writes) {
  if (const Value* stored = find_stored(root, path)) {
    if (stored->is_node()) fail_kind(path, *stored, "tensor");
    return writes.set(path, stored->tensor(), value);
  }
  NodePtr node = root;
  std::size_t i = 0;
  while (as_lazy(node.get()) == nullptr) node = entry_of(node, path[i++])->take_node();
  const RecursionGuard guard;
  const auto& lazy = static_cast<const LazyNode&>(*node);
  const std::vector<at::Tensor> parts = value.unbind(lazy.stack_dim());
  for (std::size_t k = 0; k < parts.size(); ++k) {
    stored_leaves(lazy.elements()[k], path.slice(i), parts[k], writes);
  }
}

}  // namespace

void TensorDict::set(Path path, at::Tensor value) {
  if (set_now(path, value)) return;
  if (const SubTensorDictNode* part = as_sub_tensordict(node_.get()))
    return set_new_part(*part, path, value);
  Changes changes;
  plan_set(changes, node_, path, std::move(value));
  changes.run();
}

// The common case with a single lookup.
bool TensorDict::set_now(Path path, at::Tensor& value) {
  const DenseNode* const node = plain_holder(node_, path);
  if (node == nullptr || node->device() || !begins_with(value.sizes(), node->batch())) return false;
  const std::uint64_t hash = hash_name(path.back());
  const std::size_t i = node->schema()->find(path.back(), hash);
  if (i == Schema::npos) {
    check_path(path);
    Changes::add_now(*node, path.back(), hash, std::move(value));
  } else if (node->owns_row()) {
    Changes::replace_now(*node, i, std::move(value));
  } else {
    return false;
  }
  return true;
}

void TensorDict::set(Path path, const TensorDict& value) {
  if (const SubTensorDictNode* part = as_sub_tensordict(node_.get()))
    return set_new_part(*part, path, value.node());
  Changes changes;
  plan_set(changes, node_, path, value.node());
  changes.run();
}

void TensorDict::set_non_tensor(Path path, Plain value) {
  set(path, TensorDict(NodePtr(
                c10::make_intrusive<NonTensorNode>(std::move(value), batch_size(), std::nullopt))));
}

void TensorDict::set_non_tensor(Path path, std::string_view json) {
  check_path(path);
  set_non_tensor(path, read_value(json, "the value of " + show_path(path)));
}

void TensorDict::set_inplace(Path path, const at::Tensor& value) {
  const Value* stored = find_stored(node_, path);
  const Value entry = stored != nullptr ? *stored : find_entry(node_, path);
  if (entry.is_node()) fail_kind(path, entry, "tensor");
  const at::Tensor& target = entry.tensor();
  if (!broadcasts(value.sizes(), target.sizes())) {
    fail(Code::shape, "cannot write shape ", show_sizes(value.sizes()), " into ", show_path(path),
         " of shape ", show_sizes(target.sizes()));
  }
  if (const SubTensorDictNode* part = as_sub_tensordict(node_.get())) {
    const TensorDict one = one_entry(*part, path, value.expand(target.sizes()));
    return TensorDict(part->parent()).set_at(part->items(), one);
  }
  Writes writes(stored != nullptr ? Writes::Hold::borrows : Writes::Hold::owns);
  if (stored != nullptr) {
    writes.set(path, target, value);
  } else {
    stored_leaves(node_, path, value.expand(target.sizes()), writes);
  }
  writes.run();
}

const at::Tensor* TensorDict::stored(Path path) const {
  const Value* value = find_stored(node_, path);
  return value != nullptr && !value->is_node() ? &value->tensor() : nullptr;
}

at::Tensor TensorDict::get(Path path) const {
  if (const at::Tensor* tensor = stored(path)) return *tensor;
  const Value value = find_entry(node_, path);
  if (value.is_node()) fail_kind(path, value, "tensor");
  return value.tensor();
}

TensorDict TensorDict::get_dict(Path path) const {
  if (const SubTensorDictNode* part = as_sub_tensordict(node_.get())) {
    const TensorDict inner = TensorDict(part->parent()).get_dict(path);
    require_batch(path, inner.batch_size(), part->parent()->batch());
    return sub_tensordict(inner, part->items());
  }
  const Value value = find_entry(node_, path);
  if (td::kind_of(value) != EntryKind::dict) fail_kind(path, value, "dictionary");
  return TensorDict(value.node());
}

std::string TensorDict::get_non_tensor(Path path) const {
  const Value value = find_entry(node_, path);
  if (td::kind_of(value) != EntryKind::non_tensor) fail_kind(path, value, "non-tensor value");
  const Node& node = *value.node();
  return node.kind() == NodeKind::non_tensor
             ? json_text(static_cast<const NonTensorNode&>(node).value())
             : non_tensor_json(node);
}

EntryKind TensorDict::kind_of(Path path) const {
  check_path(path);
  if (const Value* stored = find_stored(node_, path)) return td::kind_of(*stored);
  NodePtr node = node_;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (kind_below(node, path[i]) != EntryKind::dict) return EntryKind::none;
    node = entry_of(node, path[i])->take_node();
  }
  return kind_below(node, path.back());
}

void TensorDict::remove(Path path) {
  if (const DenseNode* const node = plain_holder(node_, path)) {
    const std::size_t i = node->schema()->find(path.back());
    if (i != Schema::npos) return Changes::erase_now(*node, i);
  }
  Changes changes;
  plan_remove(changes, node_, path);
  changes.run();
}

namespace {

// Changes a batch size, and those of nested nodes that are shorter; the others must fit.
class NewBatch : public WalkSink<Take::whole> {
 public:
  explicit NewBatch(SizesView batch) : batch_(batch) {}

  Take meet(const Here& here, NodesHere nodes) {
    return changes(here, *nodes[0]) ? Take::whole : Take::nothing;
  }
  void leaf(const Here& here, Tensors tensors) {
    require_batch(here.path(), tensors[0]->sizes(), batch_);
  }
  void value(const Here& here, NodesHere nodes) { changes(here, *nodes[0]); }

  void run() { changes_.run(); }

 private:
  bool changes(const Here& here, const Node& node) {
    const bool fits = begins_with(node.batch(), batch_);
    const bool follows = here.is_root() || one_value(node) != nullptr ||
                         node.batch().size() < batch_.size() ||
                         (!fits && TensorDict(retain(node)).is_empty());
    if (!follows) {
      require_batch(here.path(), node.batch(), batch_);
      return false;
    }
    if (as_lazy(&node) != nullptr || is_part(node)) {
      fail(Code::unsupported, "the batch size of a ", row_of(node).word, " is ",
           show_sizes(node.batch()), " and cannot become ", show_sizes(batch_));
    }
    if (const NestedTensorNode* nested_tensor = as_nested_tensor(&node))
      for_batch(*nested_tensor, batch_, "the entry");
    plan_batch(changes_, node, batch_);
    return true;
  }

  SizesView batch_;
  Changes changes_;
};

}  // namespace

void TensorDict::set_batch_size(SizesView batch) {
  require_sizes(batch);
  // Setting the same batch size repairs nested dictionaries whose batch size has changed meanwhile.
  if (batch == batch_size() && !is_dense()) return;
  NewBatch change(batch);
  walk(node_, change, all_entries());
  change.run();
}

void TensorDict::lock() const {
  const SubTensorDictNode* part = as_sub_tensordict(node_.get());
  if (part == nullptr) return td::lock(node_);
  if (!is_locked()) {
    fail(Code::unsupported, "a sub-tensordict cannot be locked: lock its parent");
  }
}

void TensorDict::unlock() const {
  const SubTensorDictNode* part = as_sub_tensordict(node_.get());
  if (part == nullptr) return td::unlock(node_);
  if (is_locked()) {
    fail(Code::unsupported, "a sub-tensordict cannot be unlocked: unlock its parent");
  }
}

void TensorDict::clear_device() {
  Changes changes;
  visit_nodes(node_, [&](const Node& node) { changes.set_device(node, std::nullopt); });
  changes.run();
}

}  // namespace td
