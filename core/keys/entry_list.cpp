// Lists keys in the requested order.
#include "core/keys/entries.h"
#include "core/tree/engine.h"
#include "core/tree/paths.h"

#include <algorithm>
#include <numeric>

namespace td {

namespace {

// Depth first. Reads no tensor of a lazy stack.
class Lister : public WalkSink<Take::looks> {
 public:
  explicit Lister(const KeyQuery& query) : query_(query) {}

  Take meet(const Here& here, NodesHere) {
    if (here.is_root() || see(here, EntryKind::dict)) return Take::looks;
    return Take::nothing;
  }
  void leaf(const Here& here, Tensors) { see(here, EntryKind::tensor); }
  void look(const Here& here, const NodePtr&, const std::string&) { see(here, EntryKind::tensor); }
  void value(const Here& here, NodesHere nodes) { see(here, row_of(*nodes[0]).entry); }
  Made leave(const Here& here, bool) {
    if (!here.is_root() && query_.contents_first) add(here.path(), EntryKind::dict, false);
    return {};
  }

  KeyList take() { return std::move(list_); }

 private:
  // Adds an entry; returns whether to enter it.
  bool see(const Here& here, EntryKind kind) {
    const Path path = here.path();
    if ((names_ += path.size()) > limit) {
      fail(Code::unsupported, "the paths of the keys have more than ", limit, " names");
    }
    const bool tensor = kind == EntryKind::tensor || kind == EntryKind::nested_tensor;
    const bool leaf = tensor || is_leaf(path, kind);
    const bool descends = query_.include_nested && kind == EntryKind::dict && !leaf;
    if (!descends || !query_.contents_first) add(path, kind, leaf);
    return descends;
  }

  bool is_leaf(Path path, EntryKind kind) const {
    if (query_.is_leaf != nullptr) return (*query_.is_leaf)(path, kind);
    return kind == EntryKind::non_tensor && query_.include_non_tensor;
  }

  void add(Path names, EntryKind kind, bool leaf) {
    if (query_.leaves_only && !leaf) return;
    list_.keys.push_back({{}, kind});
    std::vector<std::string>& path = list_.keys.back().path;
    path.reserve(names.size());
    for (const std::string_view name : names) path.emplace_back(name);
  }

  // Limit: a graph of shared dictionaries may have more paths than fit into memory.
  static constexpr std::size_t limit = std::size_t{1} << 24;

  const KeyQuery& query_;
  std::size_t names_ = 0;
  KeyList list_;
};

// Sorts by joined names, which are joined once for each key, not for each comparison.
void sort_joined(KeyList& list) {
  std::vector<std::string> joined(list.keys.size());
  for (std::size_t i = 0; i < joined.size(); ++i) {
    for (const std::string& name : list.keys[i].path) {
      if (&name != list.keys[i].path.data()) joined[i] += '.';
      joined[i] += name;
    }
  }
  std::vector<std::size_t> order(joined.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return joined[a] < joined[b]; });
  std::vector<KeyList::Key> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(list.keys[i]));
  list.keys = std::move(sorted);
}

}  // namespace

KeyList list_keys(const TensorDict& td, const KeyQuery& query) {
  require_dict(*td.node());
  Lister lister(query);
  walk(td.node(), lister, all_paths());
  KeyList list = lister.take();
  if (query.sort) sort_joined(list);
  return list;
}

KeyList last_key(const TensorDict& td) {
  const std::vector<std::string> names = entry_names(*td.node());
  if (names.empty()) fail(Code::key_not_found, "the dictionary is empty");
  return {{{{names.back()}, kind_below(td.node(), names.back())}}};
}

}  // namespace td
