// Writes and removes single entries.
#include "core/keys/entries.h"
#include "core/tensor/assign.h"
#include "core/tensor/tensor_index.h"
#include "core/tree/along.h"
#include "core/tree/set_and_read.h"
#include "core/tree/sub_node.h"
#include "core/tree/sub_tensordict.h"

namespace td {

void write(const TensorDict& td, Path path, const at::Tensor& value) {
  TensorDict target = td;
  if (td.kind_of(path) == EntryKind::none) return target.set(path, value);
  target.set_inplace(path, value);
}

void fill(const TensorDict& td, Path path, const at::Tensor& value) {
  TensorDict target = td;
  if (td.kind_of(path) != EntryKind::dict) return target.set_inplace(path, value);
  td.get_dict(path).fill_at({}, value);
}

at::Tensor get_at(const TensorDict& td, Path path, c10::ArrayRef<IndexItem> items) {
  return tensor_index(td.get(path), items);
}

void set_entry_at(const TensorDict& td, Path path, c10::ArrayRef<IndexItem> items,
                  const at::Tensor& value) {
  const Value* stored = find_stored(td.node(), path);
  if (stored != nullptr && !stored->is_node()) {
    return tensor_set_at(stored->tensor(), items, value);
  }
  // Read from a lazy stack or a sub-tensordict: write it back as a whole.
  const at::Tensor whole = td.get(path).clone();
  tensor_set_at(whole, items, value);
  TensorDict target = td;
  target.set_inplace(path, whole);
}

at::Tensor get_or_set(const TensorDict& td, Path path, const at::Tensor& value) {
  if (td.kind_of(path) != EntryKind::none) return td.get(path);
  return set_and_read(td, path, value);
}

void create_nested(const TensorDict& td, Path path) {
  TensorDict target = td;
  target.set(path, TensorDict(SizesView{}));
}

TensorDict holding(std::string_view name, const Value& node) {
  auto holder = c10::make_intrusive<DenseNode>(node.node()->batch(), node.node()->device());
  holder->put(name, node);
  return TensorDict(NodePtr(std::move(holder)));
}

void clear(const TensorDict& td) {
  const NodePtr& whole = whole_of(td.node());
  require_dict(*whole);
  Changes changes;
  walk_along(whole, {}, [&](const NodePtr& node, Path) {
    require_unlocked(*node);
    changes.replace(entries_of(node));
    return NodePtr();
  });
  changes.run();
}

}  // namespace td
