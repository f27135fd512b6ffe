// Selects some keys of a dictionary, or all others.
#include "core/keys/entries.h"
#include "core/keys/filter.h"
#include "core/tree/key_tree.h"

namespace td {

namespace {

class Select final : public Picker {
 public:
  Select(const NodePtr& root, const KeyTree& tree, bool ignore_missing)
      : root_(root), tree_(tree), ignore_missing_(ignore_missing) {}

  void pick(std::uint32_t level, const DenseNode& source, Picks& picks) const override {
    const KeyTree::Level& wanted = tree_[level];
    for (std::size_t k = 0; k < wanted.entries.size(); ++k) {
      // If a name and one below it are requested, the narrower one counts.
      const std::uint32_t deeper = wanted.entries[k].deeper;
      const std::size_t i = source.schema()->find(wanted.names->name(k), wanted.names->hash(k));
      const bool found =
          i != Schema::npos && picks.add(source, i, deeper == 0 ? Picks::whole : deeper);
      if (!found && !ignore_missing_) fail_missing(level, k);
    }
    if (picks.order.size() == wanted.entries.size()) {
      picks.names = wanted.names;  // hashed once
    } else {
      picks.take_names(source);
    }
  }

 private:
  [[noreturn]] void fail_missing(std::uint32_t level, std::size_t k) const {
    const KeyTree::Entry& entry = tree_[level].entries[k];
    PathBuffer path = tree_.path(level, k);
    if (entry.deeper != 0) path.push_back(tree_[entry.deeper].names->name(0));
    find_entry(root_, path);  // throws: the entry is missing
    fail(Code::key_not_found, "no entry ", show_path(path), " in every dictionary of a lazy stack");
  }

  const NodePtr& root_;
  const KeyTree& tree_;
  const bool ignore_missing_;
};

class Exclude final : public Picker {
 public:
  Exclude(const KeyTree& tree, bool drops_emptied) : tree_(tree), drops_emptied_(drops_emptied) {}

  bool drops_emptied() const noexcept override { return drops_emptied_; }
  void pick(std::uint32_t level, const DenseNode& source, Picks& picks) const override {
    const KeyTree::Level& unwanted = tree_[level];
    const Schema& names = *source.schema();
    for (std::size_t i = 0; i < source.size(); ++i) {
      const std::size_t k = unwanted.names->find(names.name(i), names.hash(i));
      const KeyTree::Entry entry = k == Schema::npos ? KeyTree::Entry{} : unwanted.entries[k];
      if (entry.whole) continue;
      if (entry.deeper == 0 || !picks.add(source, i, entry.deeper))
        picks.add(source, i, Picks::whole);
    }
    picks.take_names(source);
  }

 private:
  const KeyTree& tree_;
  const bool drops_emptied_;
};

TensorDict filtered(const TensorDict& td, const Picker& which, bool inplace) {
  const NodePtr& root = td.node();
  require_dict(*root);
  if (inplace) require_own(*root, "keys of a sub-tensordict cannot be removed in place");
  if (inplace && is_locked(*root))
    fail(Code::locked, "the dictionary is locked: entries cannot be removed");
  return TensorDict(filter(root, which, inplace));
}

TensorDict exclude_paths(const TensorDict& td, PathList paths, const SelectOptions& options,
                         bool drop_emptied) {
  const KeyTree tree(paths);
  return filtered(td, Exclude(tree, drop_emptied), options.inplace);
}

// The entries of a set under their new names.
TensorDict renamed(const TensorDict& td, const KeySet& set, bool ignore_missing) {
  if (set.names.size() != set.paths.size()) {
    fail(Code::invalid_argument, set.names.size(), " new names for ", set.paths.size(), " keys");
  }
  TensorDict result = empty(td, false);
  for (std::size_t i = 0; i < set.paths.size(); ++i) {
    check_path(set.paths[i]);
    const std::optional<Value> value = look_up(td.node(), set.paths[i]);
    if (!value) {
      if (!ignore_missing) find_entry(td.node(), set.paths[i]);
      continue;
    }
    if (value->is_node()) {
      result.set(set.names[i], TensorDict(value->node()).clone(false));
    } else {
      result.set(set.names[i], value->tensor());
    }
  }
  return result;
}

}  // namespace

TensorDict select(const TensorDict& td, PathList paths, const SelectOptions& options) {
  const KeyTree tree(paths);
  return filtered(td, Select(td.node(), tree, options.ignore_missing), options.inplace);
}

TensorDict exclude(const TensorDict& td, PathList paths, const SelectOptions& options) {
  return exclude_paths(td, paths, options, /*drop_emptied=*/false);
}

std::vector<TensorDict> split_keys(const TensorDict& td, c10::ArrayRef<KeySet> sets,
                                   const SplitOptions& options) {
  std::vector<TensorDict> results;
  results.reserve(sets.size() + 1);
  std::vector<Path> taken;
  SelectOptions selecting;
  selecting.ignore_missing = options.ignore_missing;
  for (const KeySet& set : sets) {
    taken.insert(taken.end(), set.paths.begin(), set.paths.end());
    TensorDict part = set.names.empty() ? select(td, set.paths, selecting)
                                        : renamed(td, set, options.ignore_missing);
    if (options.keep_structure) {
      TensorDict whole = empty(td, /*recurse=*/true);
      update(whole, part);
      part = std::move(whole);
    }
    results.push_back(std::move(part));
  }
  SelectOptions rest;
  rest.inplace = options.inplace;
  results.push_back(
      exclude_paths(td, taken, rest, !options.keep_emptied && !options.keep_structure));
  return results;
}

}  // namespace td
