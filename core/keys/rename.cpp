// Moves entries to other paths.
#include "core/keys/entries.h"
#include "core/tree/along.h"
#include "core/tree/changes.h"
#include "core/tree/kinds.h"

#include <set>

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

// Refuses a path that occurs twice, or lies below another one: the result would depend on their order.
void require_apart(PathList paths, const char* side) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    check_path(paths[i]);
    for (std::size_t k = 0; k < i; ++k) {
      const std::size_t common = std::min(paths[i].size(), paths[k].size());
      if (paths[i].slice(0, common) != paths[k].slice(0, common)) continue;
      fail(Code::invalid_argument, "rename_keys: the ", side, "s ", show_path(paths[k]), " and ",
           show_path(paths[i]), " are one, or lie inside one another");
    }
  }
}

// An entry on its way, in a dictionary that is no lazy stack: the root, or an element of it.
struct Move {
  const NodePtr& member;
  std::size_t pair;
  Value value;
};

std::vector<NodePtr> members_of(const NodePtr& root) {
  std::vector<NodePtr> members;
  walk_along(root, {}, [&](const NodePtr& node, Path) {
    members.push_back(node);
    return NodePtr();
  });
  return members;
}

// Gives a path dictionaries of its own: one that also stands elsewhere in the tree must not change there.
void own(const NodePtr& member, Path path) {
  for (std::size_t n = 1; n < path.size(); ++n) {
    const Path above = path.slice(0, n);
    const std::optional<Value> found = look_up(member, above);
    if (!found || kind_of(*found) != EntryKind::dict) return;
    Changes changes;
    for (const Holder& holder : dicts_holding(member, above)) {
      const NodePtr& stored = holder.dict->value(holder.position).node();
      changes.set(*holder.dict, holder.position,
                  TensorDict(stored).clone(/*recurse=*/false).node());
    }
    changes.run();
  }
}

// Whether a path leads to a dictionary without entries, if it leads anywhere.
bool is_emptied(const NodePtr& root, Path path) {
  const std::optional<Value> value = look_up(root, path);
  if (!value) return true;
  return value->is_node() && is_dict(*value->node()) && TensorDict(value->node()).is_empty() &&
         entry_names(*value->node()).empty();
}

// Removes the dictionaries that held moved entries and are empty now in all members, the deepest first.
void remove_emptied(const std::vector<NodePtr>& members, PathList from,
                    const std::vector<Move>& moves) {
  std::set<std::pair<std::size_t, std::vector<std::string_view>>> above;
  for (const Move& move : moves) {
    const Path path = from[move.pair];
    for (std::size_t n = 1; n < path.size(); ++n)
      above.insert({n, {path.begin(), path.begin() + n}});
  }
  for (auto it = above.rbegin(); it != above.rend(); ++it) {
    const Path path = it->second;
    const auto emptied = [&](const NodePtr& member) { return is_emptied(member, path); };
    if (!std::all_of(members.begin(), members.end(), emptied)) continue;
    for (const NodePtr& member : members) {
      if (look_up(member, path)) TensorDict(member).remove(path);
    }
  }
}

}  // namespace

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
    for (const Holder& holder : dicts_holding(place.node, place.from)) {
      require_unlocked(*holder.dict);
      changes.erase(*holder.dict, holder.position);
    }
  }
  changes.run();
}

TensorDict rename_keys(const TensorDict& td, PathList from, PathList to, bool ignore_missing) {
  if (from.size() != to.size()) {
    fail(Code::invalid_argument, "rename_keys: ", from.size(), " keys and ", to.size(),
         " new keys");
  }
  require_dict(*td.node());
  require_apart(from, "key");
  require_apart(to, "new key");
  // What follows changes this copy only, which is dropped if it fails.
  TensorDict result = td.clone(/*recurse=*/false);
  const std::vector<NodePtr> members = members_of(result.node());
  std::vector<Move> moves;
  for (const NodePtr& member : members) {
    for (const PathList paths : {from, to}) {
      for (const Path path : paths) own(member, path);
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      std::optional<Value> value = look_up(member, from[i]);
      if (!value && !ignore_missing) find_entry(member, from[i]);  // says what is missing
      if (value && from[i] != to[i]) moves.push_back({member, i, *std::move(value)});
    }
  }
  for (const Move& move : moves) TensorDict(move.member).remove(from[move.pair]);
  remove_emptied(members, from, moves);
  for (const Move& move : moves) {
    const Path path = to[move.pair];
    if (look_up(move.member, path)) {
      fail(Code::key_exists, "rename_keys: ", show_path(path),
           " is there already, and is not renamed itself");
    }
    Changes changes;
    plan_set(changes, move.member, path, move.value);
    changes.run();
  }
  return result;
}

}  // namespace td
