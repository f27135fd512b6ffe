#include "core/tree/sub_tensordict.h"

#include "core/tree/lazy_index.h"

namespace td {

TensorDict sub_tensordict(const TensorDict& td, c10::ArrayRef<IndexItem> items) {
  if (is_opaque(*td.node())) fail(Code::wrong_entry, "a value that is no tensor has no parts");
  const NodePtr part = read_at(td.node(), items);
  return TensorDict(NodePtr(c10::make_intrusive<PartNode>(
      td.node(), std::vector<IndexItem>(items.begin(), items.end()), part->batch())));
}

TensorDict parent_of(const TensorDict& td) {
  const PartNode* part = as_part(td.node().get());
  if (part == nullptr) fail(Code::wrong_entry, "this dictionary is not a window on another one");
  return TensorDict(part->parent());
}

}  // namespace td
