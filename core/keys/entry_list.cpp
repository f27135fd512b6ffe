// The keys of a dictionary, in the order that is asked for.
#include "core/base/recursion_guard.h"
#include "core/keys/entries.h"
#include "core/tree/paths.h"
#include "core/tree/traverse.h"

#include <algorithm>
#include <numeric>

namespace td {

namespace {

// Depth first. Names of a dense dictionary are not copied; others are asked for theirs.
class Lister {
 public:
  explicit Lister(const KeyQuery& query) : query_(query) {}

  KeyList run(const NodePtr& root) {
    enter(root);
    walk_.run_in_order(
        [&](Level& level) {
          if (level.next == level.size()) return false;
          step(level);
          return true;
        },
        [&](const Level&) {
          if (path_.empty()) return;
          if (query_.contents_first) add(EntryKind::dict, false);
          path_.pop_back();
        });
    return std::move(list_);
  }

 private:
  struct Level {
    NodePtr node;
    const DenseNode* dense;
    std::vector<std::string> names;  // of a node that is not dense
    std::size_t next = 0;

    std::size_t size() const { return dense != nullptr ? dense->size() : names.size(); }
    std::string_view name(std::size_t i) const {
      return dense != nullptr ? dense->name(i) : names[i];
    }
  };

  void enter(const NodePtr& node) {
    const DenseNode* dense = as_dense(node.get());
    walk_.add({node, dense, dense == nullptr ? entry_names(*node) : std::vector<std::string>(), 0});
  }

  void step(Level& level) {
    const std::size_t i = level.next++;
    const std::string_view name = level.name(i);
    const EntryKind kind =
        level.dense != nullptr ? kind_of(level.dense->value(i)) : kind_below(level.node, name);
    path_.push_back(name);
    if ((names_ += path_.size()) > limit) {
      fail(Code::unsupported, "the paths of the keys have more than ", limit, " names");
    }
    const bool leaf = kind == EntryKind::tensor || is_leaf(kind);
    const bool descends = query_.include_nested && kind == EntryKind::dict && !leaf;
    if (!descends || !query_.contents_first) add(kind, leaf);
    if (descends) {
      // Its name stays on the path.
      return level.dense != nullptr ? enter(level.dense->value(i).node())
                                    : enter(entry_of(level.node, name)->take_node());
    }
    path_.pop_back();
  }

  bool is_leaf(EntryKind kind) const {
    if (query_.is_leaf != nullptr) return (*query_.is_leaf)(path_, kind);
    return kind == EntryKind::non_tensor && query_.include_non_tensor;
  }

  void add(EntryKind kind, bool leaf) {
    if (query_.leaves_only && !leaf) return;
    list_.keys.push_back({{}, kind});
    std::vector<std::string>& path = list_.keys.back().path;
    path.reserve(path_.size());
    for (const std::string_view name : path_) path.emplace_back(name);
  }

  // A graph of shared dictionaries has more paths than there is memory.
  static constexpr std::size_t limit = std::size_t{1} << 24;

  const KeyQuery& query_;
  std::size_t names_ = 0;
  Traversal<Level> walk_;
  PathBuffer path_;
  KeyList list_;
};

// By the names joined with dots: joined once for each key, not for each comparison.
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
  if (is_opaque(*td.node())) fail(Code::wrong_entry, "this entry is a value, not a dictionary");
  KeyList list = Lister(query).run(td.node());
  if (query.sort) sort_joined(list);
  return list;
}

KeyList last_key(const TensorDict& td) {
  const DenseNode* dense = as_dense(td.node().get());
  const auto last = [&](std::string name, EntryKind kind) {
    return KeyList{{{{std::move(name)}, kind}}};
  };
  if (dense != nullptr && dense->size() != 0) {
    return last(dense->name(dense->size() - 1), kind_of(dense->value(dense->size() - 1)));
  }
  const std::vector<std::string> names = entry_names(*td.node());
  if (names.empty()) fail(Code::key_not_found, "the dictionary holds nothing");
  return last(names.back(), kind_below(td.node(), names.back()));
}

KeyList TensorDict::keys(const KeysOptions& options) const {
  return list_keys(*this, KeyQuery{options});
}

}  // namespace td
