#include "core/tree/sub_tensordict.h"

#include "core/tensor/known_sizes.h"
#include "core/tree/lazy_index.h"
#include "core/tree/sub_index.h"

namespace td {

TensorDict sub_tensordict(const TensorDict& td, c10::ArrayRef<IndexItem> items) {
  if (is_opaque(*td.node())) fail(Code::wrong_entry, "non-tensor data has no nested entries");
  const NodePtr& node = td.node();
  const SizesView batch = node->batch();
  // Elements of a lazy stack may differ: read them to find the part's batch size.
  const bool reads = as_lazy(node.get()) != nullptr || is_uneven(batch);
  const Sizes sizes =
      reads ? Sizes(read_at(node, items)->batch()) : IndexPlan(items, batch).sizes(batch);
  std::vector<IndexItem> own = own_index(items, batch);
  NodePtr parent = node;
  if (const SubTensorDictNode* above = as_sub_tensordict(node.get())) {
    // A part of a part refers to the whole: a chain costs no more than its last link.
    const SizesView whole = above->parent()->batch();
    if (!is_uneven(whole)) above->require_batch(IndexPlan(above->items(), whole).sizes(whole));
    if (auto both = compose(above->items(), own, whole)) {
      parent = above->parent();
      own = *std::move(both);
    }
  }
  return TensorDict(
      NodePtr(c10::make_intrusive<SubTensorDictNode>(std::move(parent), std::move(own), sizes)));
}

TensorDict parent_of(const TensorDict& td) {
  const SubTensorDictNode* part = as_sub_tensordict(td.node().get());
  if (part == nullptr) fail(Code::wrong_entry, "this dictionary is not a sub-tensordict");
  return TensorDict(part->parent());
}

TensorDict same_part(const TensorDict& part, const TensorDict& parent) {
  return sub_tensordict(parent, as_sub_tensordict(part.node().get())->items());
}

}  // namespace td
