// Joins nested keys into flat names, and splits them.
#include "core/base/recursion_guard.h"
#include "core/keys/entries.h"
#include "core/tree/engine.h"

#include <unordered_map>

namespace td {

namespace {

// The separator joins names, so it must be a valid name: not empty, valid UTF-8.
void check_separator(std::string_view separator) {
  if (separator.empty()) fail(Code::invalid_argument, "the separator is empty");
  check_path(separator);
}

// Changes each element of a lazy stack; reads a sub-tensordict.
template <class Change>
TensorDict change_each(const TensorDict& td, bool inplace, Change change) {
  Changes changes;
  const auto run = [&](const auto& self, const NodePtr& node) -> NodePtr {
    require_dict(*node);
    if (inplace) require_own(*node, "a sub-tensordict cannot change its keys in place");
    if (!is_lazy_stack(*node)) return change(dense_form(node), changes);
    const RecursionGuard guard;
    const LazyNode& lazy = stack_of(*node);
    auto result =
        lazy.with_elements(lazy.each([&](const NodePtr& element) { return self(self, element); }));
    if (inplace) return node;
    result->set_tensorclass(nullptr);  // with other names it is no tensorclass
    return result;
  };
  NodePtr result = run(run, td.node());
  changes.run();
  return inplace ? td : TensorDict(std::move(result));
}

// The node that receives the entries; in place, one owned by the changes.
DenseNode* target_of(const NodePtr& node, bool inplace, Changes& changes, NodePtr& result) {
  const DenseNode& source = entries_of(node);
  if (inplace) {
    result = node;
    require_unlocked(source);
    return &changes.replace(source);
  }
  auto made = c10::make_intrusive<DenseNode>(source.batch(), source.device());
  copy_tags(source, *made);
  made->set_tensorclass(nullptr);  // with other names it is no tensorclass
  DenseNode* target = made.get();
  result = std::move(made);
  return target;
}

class Flatten : public WalkSink<Take::reads> {
 public:
  Flatten(std::string_view separator, const FlattenOptions& options)
      : separator_(separator), options_(options) {}

  NodePtr run(const NodePtr& root, Changes& changes) {
    NodePtr result;
    DenseNode* target = target_of(root, options_.inplace, changes, result);
    names_ = c10::make_intrusive<Schema>();
    values_.clear();
    joined_.clear();
    walk(root, *this, all_paths());
    DenseNode made(names_, target->batch(), target->device());
    made.reserve(values_.size());
    for (Value& value : values_) made.push_value(std::move(value));
    target->swap_entries(made);
    return result;
  }

  Take meet(const Here& here, NodesHere) {
    const bool leaf = !here.is_root() && options_.is_leaf != nullptr &&
                      (*options_.is_leaf)(here.path(), EntryKind::dict);
    if (leaf) put(here);
    return leaf ? Take::nothing : Take::reads;
  }
  void enter(const Here& here, Dicts) {
    if (!here.is_root()) joined(here.name()) += separator_;
    prefixes_.push_back(joined_.size());
  }
  void leaf(const Here& here, Tensors) { put(here); }
  void value(const Here& here, NodesHere) { put(here); }
  Made leave(const Here&, bool) {
    prefixes_.pop_back();
    return {};
  }

 private:
  // A name prefixed by the dictionaries above.
  std::string& joined(std::string_view name) {
    joined_.resize(prefixes_.back());
    return joined_ += name;
  }

  void put(const Here& here) {
    const DenseNode& holder = here.holder();
    if (prefixes_.size() == 1) {
      add(*names_, holder.name(here.index()), holder.schema()->hash(here.index()));
    } else {
      joined(holder.name(here.index()));
      add(*names_, joined_, hash_name(joined_));
    }
    const Value& value = here.value();
    values_.push_back(value.is_node() && !options_.inplace
                          ? Value(TensorDict(value.node()).clone(false).node())
                          : value);
  }

  void add(Schema& names, std::string_view name, std::uint64_t hash) const {
    if (names.find(name, hash) != Schema::npos) {
      fail(Code::key_exists, "flatten_keys: several entries would be called \"", name, "\"");
    }
    names.append(name, hash);
  }

  std::string_view separator_;
  const FlattenOptions& options_;
  SchemaPtr names_;
  std::vector<Value> values_;
  std::string joined_;
  std::vector<std::size_t> prefixes_;  // lengths of the prefix in `joined_`, for each level
};

// Splits the names of the first level. Existing dictionaries receive the entries below them; a new result has
// new dictionaries.
class Unflatten {
 public:
  Unflatten(std::string_view separator, bool inplace, Changes& changes)
      : separator_(separator), inplace_(inplace), changes_(changes) {}

  NodePtr run(const NodePtr& root) {
    root_ = &entries_of(root);
    NodePtr result;
    DenseNode* target = target_of(root, inplace_, changes_, result);
    for (const bool split : {false, true}) {
      for_each_entry(*root_, [&](const std::string& name, const Value& value) {
        if (split == splits(name)) place(*target, name, value);
      });
    }
    return result;
  }

 private:
  bool splits(std::string_view name) const {
    return name.find(separator_) != std::string_view::npos;
  }

  void place(DenseNode& target, const std::string& name, const Value& value) {
    std::string_view rest = name;
    DenseNode* node = &target;
    for (std::size_t at; (at = rest.find(separator_)) != std::string_view::npos;) {
      node = inner(*node, rest.substr(0, at), name);
      rest.remove_prefix(at + separator_.size());
    }
    if (node->find(rest) != nullptr) fail_override(name, "the entry already exists");
    const bool copies = value.is_node() && !inplace_;
    node->put(rest, copies ? Value(TensorDict(value.node()).clone(false).node()) : value);
  }

  DenseNode* inner(DenseNode& node, std::string_view part, const std::string& name) {
    const Value* there = node.find(part);
    if (there == nullptr) {
      auto made = c10::make_intrusive<DenseNode>(root_->batch(), root_->device());
      copy_tags(*root_, *made);
      made->set_tensorclass(nullptr);
      DenseNode* result = made.get();
      node.put(part, NodePtr(std::move(made)));
      own_.emplace(result, result);
      return result;
    }
    if (!is_branch(*there)) fail_override(name, "a part of it is not a dictionary");
    DenseNode* dense = &entries_of(there->node());
    if (!inplace_) return dense;
    DenseNode*& changed = own_[dense];
    if (changed == nullptr) {
      require_unlocked(*dense);
      changed = &changes_.replace(*dense, *dense);
    }
    return changed;
  }

  [[noreturn]] static void fail_override(const std::string& name, const char* why) {
    fail(Code::key_exists, "unflatten_keys would override an entry: \"", name, "\": ", why);
  }

  std::string_view separator_;
  bool inplace_;
  Changes& changes_;
  const DenseNode* root_ = nullptr;
  std::unordered_map<DenseNode*, DenseNode*> own_;  // in place: the future content of a dictionary
};

}  // namespace

TensorDict flatten_keys(const TensorDict& td, std::string_view separator,
                        const FlattenOptions& options) {
  check_separator(separator);
  Flatten flatten(separator, options);
  return change_each(td, options.inplace, [&](const NodePtr& node, Changes& changes) {
    return flatten.run(node, changes);
  });
}

TensorDict unflatten_keys(const TensorDict& td, std::string_view separator, bool inplace) {
  check_separator(separator);
  return change_each(td, inplace, [&](const NodePtr& node, Changes& changes) {
    return Unflatten(separator, inplace, changes).run(node);
  });
}

}  // namespace td
