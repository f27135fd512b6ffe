#include "core/tree/names.h"

#include "core/tree/traverse.h"

#include <algorithm>
#include <unordered_set>

namespace td {

namespace {

bool any_set(const Names& names) {
  return std::any_of(names.begin(), names.end(), [](const auto& name) { return name.has_value(); });
}

void require_unique(const Names& names) {
  for (auto one = names.begin(); one != names.end(); ++one) {
    if (*one && std::find(names.begin(), one, *one) != one) {
      fail(Code::invalid_argument, "two dimensions cannot both be called \"", **one, "\"");
    }
  }
}

void check_names(const Names& names, SizesView batch) {
  if (names.size() != batch.size()) {
    fail(Code::invalid_argument, names.size(), " names for batch size ", show_sizes(batch), " of ",
         batch.size(), batch.size() == 1 ? " dimension" : " dimensions");
  }
  for (const auto& name : names) {
    if (name && !is_utf8(*name))
      fail(Code::invalid_argument, "the name of a dimension is not UTF-8");
  }
  require_unique(names);
}

Names with_leading(const Names& leading, Names into, std::size_t dims) {
  into.resize(dims);
  std::copy_n(leading.begin(), std::min(leading.size(), dims), into.begin());
  return into;
}

[[noreturn]] void fail_sub_tensordict() {
  fail(Code::unsupported,
       "the names of a sub-tensordict are those of its parent: name the dimensions of the parent");
}

}  // namespace

std::string show_names(const Names& names, std::size_t dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims; ++i) {
    if (i != 0) text += ", ";
    text += i < names.size() && names[i] ? *names[i] : "None";
  }
  return text + "]";
}

Names names_of(const Node& node) {
  if (const SubTensorDictNode* part = as_sub_tensordict(&node)) {
    const IndexPlan plan(part->items(), part->parent()->batch());
    return plan.names(names_of(*part->parent()));
  }
  const LazyNode* lazy = as_lazy(&node);
  if (lazy == nullptr || !lazy->names().empty() || lazy->elements().empty()) return node.names();
  Names names = names_of(*lazy->elements()[0]);
  if (names.empty()) return names;
  names.resize(lazy->batch().size() - 1);  // the element's batch size may have changed
  names.insert(names.begin() + lazy->stack_dim(), std::nullopt);
  return names;
}

void plan_names(Changes& changes, const NodePtr& root, Names leading) {
  struct Place {
    NodePtr node;
    Names leading;
  };
  const bool clear = !any_set(leading);
  Traversal<Place> walk;
  walk.add({root, std::move(leading)});
  walk.run([&](const Place& at) {
    const std::size_t dims = at.node->batch().size();
    if (const LazyNode* lazy = as_lazy(at.node.get())) {
      if (lazy->holds_non_tensor()) return;
      Names full = clear ? Names{} : with_leading(at.leading, names_of(*lazy), dims);
      Names inner = full;
      if (!clear) inner.erase(inner.begin() + lazy->stack_dim());
      changes.set_names(*lazy, std::move(full));
      for (const NodePtr& element : lazy->elements()) {
        walk.add_once(element.get(), {element, inner});
      }
      return;
    }
    const DenseNode* dense = as_dense(at.node.get());
    if (dense == nullptr) return;  // values have no names of their own
    Names full = clear ? Names{} : with_leading(at.leading, changes.names_of(*dense), dims);
    require_unique(full);
    changes.set_names(*dense, std::move(full));
    const auto below = [&](const Value& value) {
      if (value.is_node()) walk.add_once(value.node().get(), {value.node(), at.leading});
    };
    for (std::size_t i = 0; i < dense->size(); ++i) below(dense->value(i));
    changes.each_set(*dense, below);
  });
}

void plan_batch(Changes& changes, const Node& node, SizesView batch) {
  changes.set_batch(node, batch);
  if (node.names().empty()) return;
  Names names = node.names();
  names.resize(batch.size());
  changes.set_names(node, std::move(names));
}

void set_names(const TensorDict& td, Names names) {
  if (td.node()->kind() == NodeKind::sub_tensordict) fail_sub_tensordict();
  if (!names.empty()) check_names(names, td.batch_size());
  Changes changes;
  plan_names(changes, td.node(), std::move(names));
  changes.run();
}

void rename_names(const TensorDict& td, const Names& from, const Names& to) {
  Names names = names_of(*td.node());
  const Names before = names;
  std::vector<bool> given(before.size(), false);
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (!from[k]) fail(Code::invalid_argument, "a dimension without a name cannot be renamed");
    const auto found = std::find(before.begin(), before.end(), from[k]);
    if (found == before.end()) {
      fail(Code::invalid_argument, "no dimension is called \"", *from[k], "\"; the names are ",
           show_names(before, td.batch_size().size()));
    }
    const auto at = static_cast<std::size_t>(found - before.begin());
    if (given[at]) fail(Code::invalid_argument, "\"", *from[k], "\" is to be renamed twice");
    given[at] = true;
    names[at] = to[k];
  }
  if (!from.empty()) set_names(td, std::move(names));
}

void refine_names(const TensorDict& td, Names names) {
  const std::size_t dims = td.batch_size().size();
  Names full = names_of(*td.node());
  full.resize(dims);
  const auto dots = std::find(names.begin(), names.end(), "...");
  if (dots != names.end()) {
    if (std::find(dots + 1, names.end(), "...") != names.end())
      fail(Code::invalid_argument, "\"...\" may occur only once in names");
    const std::size_t front = static_cast<std::size_t>(dots - names.begin());
    const std::size_t given = names.size() - 1;
    if (given <= dims) {
      const auto middle = static_cast<std::ptrdiff_t>(front);
      const auto kept = static_cast<std::ptrdiff_t>(dims - given);
      names.erase(dots);
      names.insert(names.begin() + middle, full.begin() + middle, full.begin() + middle + kept);
    }
  }
  check_names(names, td.batch_size());
  for (std::size_t i = 0; i < dims; ++i) {
    if (full[i] && names[i] != full[i]) {
      fail(Code::invalid_argument, "names ", show_names(full, dims), " cannot be refined to ",
           show_names(names, dims), ": a dimension that has a name must keep it");
    }
  }
  set_names(td, std::move(names));
}

namespace {

// A lazy stack reports its first element's names; an element named later may differ.
bool elements_have(const Node& node, Names names) {
  const LazyNode* lazy = as_lazy(&node);
  if (lazy == nullptr || lazy->holds_non_tensor()) return true;
  names.erase(names.begin() + lazy->stack_dim());
  return std::all_of(lazy->elements().begin(), lazy->elements().end(),
                     [&](const NodePtr& element) { return names_of(*element) == names; });
}

NodePtr named_copy(const NodePtr& node, Names names) {
  const TensorDict copy = TensorDict(node).clone(/*recurse=*/false);
  set_names(copy, std::move(names));
  return copy.node();
}

}  // namespace

NodePtr fit_names(Changes& changes, const DenseNode& holder, Path path, NodePtr node) {
  const std::size_t dims = holder.batch().size();
  const Names& wanted = changes.names_of(holder);
  Names own = names_of(*node);
  if (wanted.empty()) {
    if (own.empty()) return node;
    Names leading = own;
    leading.resize(dims);
    if (!any_set(leading)) return node;
    plan_names(changes, retain(holder), std::move(leading));
    return elements_have(*node, own) ? node : named_copy(node, std::move(own));
  }
  own.resize(node->batch().size());
  Names full = own;
  for (std::size_t i = 0; i < dims; ++i) {
    if (wanted[i] && own[i] && *wanted[i] != *own[i]) {
      fail(Code::invalid_argument, "the dictionary for ", show_path(path), " has names ",
           show_names(own, own.size()), ", which do not fit ", show_names(wanted, dims));
    }
    if (wanted[i]) full[i] = wanted[i];
  }
  return full == own ? node : named_copy(node, std::move(full));
}

}  // namespace td
