// A part of the keys of a dictionary: these, or all others.
#include "core/base/recursion_guard.h"
#include "core/keys/entries.h"
#include "core/tree/batch_op.h"
#include "core/tree/key_tree.h"
#include "core/tree/traverse.h"

namespace td {

namespace {

NodePtr copy_of_node(const NodePtr& node) { return TensorDict(node).clone(false).node(); }

// What both have in common: one pass over the levels of the key tree. A level is read from a source
// and written into a target, which in place will become the source's content.
template <class Derived>
class Filter {
 public:
  Filter(const NodePtr& root, const KeyTree& tree, const SelectOptions& options)
      : root_(root), tree_(tree), options_(options) {}

  TensorDict run() {
    NodePtr result;
    if (const SubTensorDictNode* part = as_sub_tensordict(root_.get())) {
      if (options_.inplace) {
        fail(Code::unsupported, "keys of a sub-tensordict cannot be removed in place");
      }
      result = make(0, dense_form(retain(*part))).node;
    } else {
      if (!is_dict(*root_)) fail(Code::wrong_entry, "this entry is a value, not a dictionary");
      if (options_.inplace && is_locked(*root_)) require_unlocked_lazy();
      result = make(0, root_).node;
    }
    walk_.run([&](const Place& at) { static_cast<Derived*>(this)->step(at); });
    static_cast<Derived*>(this)->finish();
    changes_.run();
    return TensorDict(options_.inplace ? root_ : result);
  }

 protected:
  struct Place {
    std::uint32_t level;
    const DenseNode* source;
    DenseNode* target;  // held by its parent, by the result or by the changes
  };
  struct Made {
    NodePtr node;
    const DenseNode* target = nullptr;  // of a dense dictionary: where its entries go
  };

  // A dictionary of which a part is wanted.
  Made begin(std::uint32_t level, const NodePtr& node) {
    return memo_.once(
        node.get(), [&] { return make(level, node); }, level);
  }

  Made make(std::uint32_t level, const NodePtr& node) {
    if (const DenseNode* dense = as_dense(node.get())) {
      if (options_.inplace) {
        require_unlocked(*dense);
        DenseNode* const target = &changes_.replace(*dense);
        walk_.add({level, dense, target});
        return {node, target};
      }
      held_.push_back(node);
      auto target = c10::make_intrusive<DenseNode>(dense->batch(), dense->device());
      copy_tags(*dense, *target);
      walk_.add({level, dense, target.get()});
      return {target, target.get()};
    }
    const RecursionGuard guard;
    const auto& lazy = static_cast<const LazyNode&>(*node);
    std::vector<NodePtr> elements;
    elements.reserve(lazy.elements().size());
    for (const NodePtr& element : lazy.elements()) elements.push_back(begin(level, element).node);
    if (options_.inplace) return {node};
    auto result = c10::make_intrusive<LazyNode>(std::move(elements), lazy.stack_dim(), lazy.batch(),
                                                lazy.device());
    copy_tags(lazy, *result);
    return {result};
  }

  // An entry that stays as it is. A result of its own has dictionaries of its own.
  Value whole(const Value& value) {
    if (!value.is_node() || options_.inplace) return value;
    return copies_.once(value.node().get(), [&] { return copy_of_node(value.node()); });
  }

  const NodePtr& root_;
  const KeyTree& tree_;
  const SelectOptions& options_;
  Traversal<Place> walk_;
  Memo<Made> memo_;
  Memo<NodePtr> copies_;
  std::vector<NodePtr> held_;
  Changes changes_;

 private:
  void require_unlocked_lazy() const {
    fail(Code::locked, "the dictionary is locked: entries cannot be removed");
  }
};

class Select final : public Filter<Select> {
 public:
  using Filter::Filter;

  void step(const Place& at) {
    const KeyTree::Level& wanted = tree_[at.level];
    DenseNode& target = *at.target;
    c10::SmallVector<Value, 6> values;
    bool complete = true;
    for (std::size_t k = 0; k < wanted.entries.size(); ++k) {
      const KeyTree::Entry& entry = wanted.entries[k];
      const std::size_t i = at.source->schema()->find(wanted.names->name(k), wanted.names->hash(k));
      const bool there = i != Schema::npos && (entry.deeper == 0 || is_dict(at.source->value(i)));
      if (!there) {
        if (!options_.ignore_missing) fail_missing(at.level, k);
        complete = false;
        values.emplace_back();
        continue;
      }
      const Value& value = at.source->value(i);
      // A name and one below it: the narrower one counts.
      values.push_back(entry.deeper == 0 ? whole(value) : begin(entry.deeper, value.node()).node);
    }
    if (complete) {  // the names are those of the tree: hashed once
      DenseNode made(wanted.names, target.batch(), target.device());
      made.reserve(values.size());
      for (Value& value : values) made.push_value(std::move(value));
      target.swap_entries(made);
      return;
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k].is_node() || values[k].tensor().defined()) {
        target.put(wanted.names->name(k), std::move(values[k]));
      }
    }
  }
  void finish() {}

 private:
  [[noreturn]] void fail_missing(std::uint32_t level, std::size_t k) const {
    const KeyTree::Entry& entry = tree_[level].entries[k];
    PathBuffer path = tree_.path(level, k);
    if (entry.deeper != 0) path.push_back(tree_[entry.deeper].names->name(0));
    find_entry(root_, path);  // throws: the entry is missing
    fail(Code::key_not_found, "no entry ", show_path(path), " in every dictionary of a lazy stack");
  }
};

class Exclude final : public Filter<Exclude> {
 public:
  Exclude(const NodePtr& root, const KeyTree& tree, const SelectOptions& options, bool drop_emptied)
      : Filter(root, tree, options), drop_emptied_(drop_emptied) {}

  void step(const Place& at) {
    const KeyTree::Level& unwanted = tree_[at.level];
    const DenseNode& source = *at.source;
    c10::SmallVector<Value, 6> values;
    c10::SmallVector<std::size_t, 6> dropped;
    values.reserve(source.size());
    const Schema& names = *source.schema();
    for (std::size_t i = 0; i < source.size(); ++i) {
      const std::size_t k = unwanted.names->find(names.name(i), names.hash(i));
      const KeyTree::Entry entry = k == Schema::npos ? KeyTree::Entry{} : unwanted.entries[k];
      if (entry.whole) {
        dropped.push_back(i);
        continue;
      }
      const Value& value = source.value(i);
      if (entry.deeper == 0 || !is_dict(value)) {
        values.push_back(whole(value));
        continue;
      }
      Made made = begin(entry.deeper, value.node());
      if (drop_emptied_ && made.target != nullptr && as_dense(value.node().get())->size() != 0) {
        narrowed_.push_back({at.target, names.name(i), made.target});
      }
      values.push_back(std::move(made.node));
    }
    SchemaPtr schema = source.schema();
    if (!dropped.empty()) {
      schema = c10::make_intrusive<Schema>();
      for (std::size_t i = 0, next = 0; i < source.size(); ++i) {
        if (next < dropped.size() && dropped[next] == i) {
          ++next;
        } else {
          schema->append(names.name(i), names.hash(i));
        }
      }
    }
    DenseNode made(schema, at.target->batch(), at.target->device());
    made.reserve(values.size());
    for (Value& value : values) made.push_value(std::move(value));
    at.target->swap_entries(made);
  }

  // Deepest first: a dictionary stands behind the one that holds it. Where several hold it, it may stand
  // before some of them: these go in another round.
  void finish() {
    for (bool any = true; any;) {
      any = false;
      for (auto at = narrowed_.rbegin(); at != narrowed_.rend(); ++at) {
        if (at->node == nullptr || at->node->size() != 0) continue;
        at->node = nullptr;
        at->holder->erase(at->holder->schema()->find(at->name));
        any = true;
      }
    }
  }

 private:
  struct Narrowed {
    DenseNode* holder;
    std::string name;
    const DenseNode* node;  // what will be there
  };

  bool drop_emptied_;
  std::vector<Narrowed> narrowed_;
};

TensorDict exclude_paths(const TensorDict& td, PathList paths, const SelectOptions& options,
                         bool drop_emptied) {
  const KeyTree tree(paths);
  return Exclude(td.node(), tree, options, drop_emptied).run();
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
      result.set(set.names[i], TensorDict(copy_of_node(value->node())));
    } else {
      result.set(set.names[i], value->tensor());
    }
  }
  return result;
}

}  // namespace

TensorDict select(const TensorDict& td, PathList paths, const SelectOptions& options) {
  const KeyTree tree(paths);
  return Select(td.node(), tree, options).run();
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
