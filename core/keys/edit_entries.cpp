// Writes, removes and renames single entries.
#include "core/keys/entries.h"
#include "core/tensor/assign.h"
#include "core/tensor/tensor_index.h"
#include "core/tree/along.h"
#include "core/tree/set_and_read.h"
#include "core/tree/sub_node.h"
#include "core/tree/sub_tensordict.h"
#include "core/tree/walk.h"

namespace td {

namespace {

// Where to change an entry: at one node, or at each element of lazy stacks on the path. Paths start at the
// node.
struct Place {
  NodePtr node;
  Path from, to;
};

std::vector<Place> places_of(const NodePtr& root, Path from, Path to) {
  std::vector<Place> places;
  walk_along(root, from, [&](const NodePtr& node, Path rest) {
    const Path beside = to.slice(std::min(from.size() - rest.size(), to.size()));
    const bool both = rest.size() > 1 && beside.size() > 1 && rest[0] == beside[0];
    const Value* inner = both ? find_stored(node, rest[0]) : nullptr;
    if (inner != nullptr && inner->is_node()) return inner->node();
    places.push_back({node, rest, beside});
    return NodePtr();
  });
  return places;
}

}  // namespace

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

void rename_key(const TensorDict& td, Path from, Path to, bool safe) {
  check_path(from);
  check_path(to);
  const TensorDict whole(whole_of(td.node()));
  find_entry(whole.node(), from);  // says what is missing
  if (from == to) return;
  if (safe && whole.kind_of(to) != EntryKind::none) {
    fail(Code::key_exists, "cannot rename ", show_path(from), ": ", show_path(to),
         " already exists");
  }
  // The entry moves to the end, or to the place of an existing entry of the new name. If it replaces a
  // dictionary that contained it, that is removed with its other content.
  Changes changes;
  for (const Place& place : places_of(whole.node(), from, to)) {
    // An entry moved out of a lazy stack is stored as it reads.
    plan_set(changes, place.node, place.to, find_entry(place.node, place.from));
    for (const DenseNode* holder : dicts_holding(place.node, place.from)) {
      require_unlocked(*holder);
      changes.erase(*holder, place.from.back());
    }
  }
  changes.run();
}

void clear(const TensorDict& td) {
  const NodePtr& whole = whole_of(td.node());
  require_dict(*whole);
  Changes changes;
  for (const Place& place : places_of(whole, {}, {})) {
    require_unlocked(*place.node);
    changes.replace(entries_of(place.node));
  }
  changes.run();
}

}  // namespace td
