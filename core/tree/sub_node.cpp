// Sub-tensordicts as nodes, and how they read. sub_tensordict.cpp creates them.
#include "core/tree/sub_node.h"

#include "core/base/recursion_guard.h"
#include "core/tree/changes.h"
#include "core/tree/kinds.h"
#include "core/tree/lazy_index.h"
#include "core/tree/paths.h"
#include "core/tree/tensordict.h"
#include "core/tree/zip.h"

#include <algorithm>

namespace td {

NodePtr SubTensorDictNode::transform(const BatchOp& op) const {
  return dense_form()->transform(op);
}

NodePtr SubTensorDictNode::shallow_copy() const {
  return c10::make_intrusive<SubTensorDictNode>(parent_, items_, batch());
}

void SubTensorDictNode::collect(HeldNodes& into) const { into.push_back(parent_.get()); }

// Nodes locked through a sub-tensordict refer to it weakly, and would keep its memory and thereby themselves.
void SubTensorDictNode::release_resources() {
  parent_.reset();
  forget_holders();
}

NodePtr SubTensorDictNode::dense_form() const {
  const RecursionGuard guard;
  NodePtr read = td::dense_form(read_at(parent_, items_));
  require_batch(read->batch());
  return read;
}

void SubTensorDictNode::require_batch(SizesView read) const {
  if (read == batch()) return;
  fail(Code::shape, "the parent of a sub-tensordict of batch size ", show_sizes(batch()),
       " has changed: its batch size is ", show_sizes(parent_->batch()),
       ", and the index now gives ", show_sizes(read), "; make the sub-tensordict again");
}

std::optional<Value> SubTensorDictNode::entry(std::string_view name) const {
  std::optional<Value> value = parent_->entry(name);
  if (!value) return std::nullopt;
  // The index was compiled for the parent's batch size, with which every entry starts.
  auto holder = c10::make_intrusive<DenseNode>(parent_->batch(), parent_->device());
  holder->put(name, *value);
  const NodePtr read = read_at(holder, items_);
  require_batch(read->batch());
  return *as_dense(read.get())->find(name);
}

EntryKind SubTensorDictNode::entry_kind(std::string_view name) const {
  const EntryKind kind = parent_->entry_kind(name);
  if (kind != EntryKind::nested_tensor) return kind;
  return kind_of(*entry(name));  // a single part is a tensor
}

std::vector<std::string> SubTensorDictNode::entry_names() const { return parent_->entry_names(); }

bool SubTensorDictNode::locked_by_others() const noexcept { return is_locked(*parent_); }

namespace {

// Calls `f(here, tensors)` once for each tensor of a part. Skips elements of a lazy stack, which are not
// copies. A nested tensor is refused: a copy of one cannot be put back.
void each_tensor(const NodePtr& root, c10::function_ref<void(const Here&, Tensors)> f) {
  WalkRules rules = all_entries();
  rules.nested_tensor = false;
  rules.what = "write in place";
  if (holds_entries(*root)) visit_zip(root, Take::whole, f, rules);
}

// Increases with each write. Inference tensors have no version.
std::int64_t version_of(const at::Tensor& tensor) {
  return tensor.is_inference() ? 0 : tensor._version();
}

// Whether a node is a lazy stack of elements of another one itself, not of copies of them. An index
// tensor with several dimensions makes stacks of such stacks.
bool has_elements_of(const Node& node, const Node& other) {
  if (!is_lazy_stack(node) || !is_lazy_stack(other)) return false;
  const RecursionGuard guard;
  const c10::ArrayRef<NodePtr> own = stacked(node), all = stacked(other);
  return std::all_of(own.begin(), own.end(), [&](const NodePtr& element) {
    return std::find(all.begin(), all.end(), element) != all.end() ||
           has_elements_of(*element, other);
  });
}

}  // namespace

InPlace::InPlace(const NodePtr& node) : node_(node) {
  const SubTensorDictNode* part = as_sub_tensordict(node.get());
  if (part == nullptr) return;
  const auto copies = [](const IndexItem& item) {
    return item.kind == IndexKind::tensor || item.kind == IndexKind::boolean;
  };
  node_ = read_at(part->parent(), part->items());
  part->require_batch(node_->batch());
  if (std::none_of(part->items().begin(), part->items().end(), copies)) return;
  if (has_elements_of(*node_, *part->parent())) return;
  part_ = node;
  each_tensor(node_,
              [&](const Here&, Tensors tensors) { versions_.push_back(version_of(*tensors[0])); });
}

void InPlace::commit() {
  if (!part_.defined()) return;
  const auto& part = static_cast<const SubTensorDictNode&>(*part_);
  auto before = versions_.begin();
  Changes changes;
  each_tensor(node_, [&](const Here& here, Tensors tensors) {
    const at::Tensor& tensor = *tensors[0];
    const bool same = !tensor.is_inference() && *before == version_of(tensor);
    ++before;
    if (same) changes.erase(here.holder(), here.index());
  });
  changes.run();
  TensorDict(part.parent()).set_at(part.items(), TensorDict(node_));
}

}  // namespace td
