// What lazy stacks read as: the entry of a name is stacked from those of the elements.
#include "core/base/recursion_guard.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/join_tensors.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/dense_node.h"
#include "core/tree/kinds.h"
#include "core/tree/lazy_elements.h"
#include "core/tree/traverse.h"

#include <algorithm>

namespace td {

namespace {

at::Tensor stack_leaves(const std::vector<at::Tensor>& leaves, std::int64_t dim) {
  Sizes sizes(leaves[0].sizes().begin(), leaves[0].sizes().end());
  sizes.insert(sizes.begin() + dim, static_cast<std::int64_t>(leaves.size()));
  c10::SmallVector<const at::Tensor*, 8> tensors;
  for (const at::Tensor& leaf : leaves) tensors.push_back(&leaf);
  return join_tensors(Join::stack, tensors, dim, sizes, fast::can_skip_dispatcher());
}

using StackedEntries = Memo<std::optional<Value>>;  // for shared stacks within a stack

// Combines the elements' entries of this name.
std::optional<Value> stacked_entry(const LazyNode& lazy, std::string_view name,
                                   StackedEntries& known) {
  const RecursionGuard guard;
  require_elements(lazy);
  std::vector<at::Tensor> leaves;
  std::vector<NodePtr> nodes;
  for (const NodePtr& element : lazy.elements()) {
    const LazyNode* inner = as_lazy(element.get());
    std::optional<Value> value =
        inner == nullptr ? entry_of(element, name) : known.once(inner, [&] {
          return inner->holds_non_tensor() ? std::nullopt : stacked_entry(*inner, name, known);
        });
    if (!value) return std::nullopt;
    if (value->is_node()) {
      nodes.push_back(value->take_node());
    } else {
      leaves.push_back(value->tensor());
    }
  }
  if (!leaves.empty() && !nodes.empty()) {
    fail(Code::wrong_entry, "\"", name,
         "\" is a tensor in one element of the lazy stack and not in another");
  }
  if (!nodes.empty()) {
    auto result = make_lazy(std::move(nodes), lazy.stack_dim(), false);
    if (!lazy.names().empty()) {
      Names names = lazy.names();  // further dimensions keep theirs
      const Names& own = result->names();
      names.resize(result->batch().size());
      for (std::size_t i = lazy.batch().size(); i < own.size(); ++i) names[i] = own[i];
      result->set_names(std::move(names));
    }
    return Value(NodePtr(std::move(result)));
  }
  if (leaves.empty()) return std::nullopt;
  for (const at::Tensor& leaf : leaves) {
    if (leaf.sizes() != leaves[0].sizes()) {
      fail(Code::shape, "the tensors of \"", name,
           "\" in a lazy stack differ in shape: ", show_sizes(leaves[0].sizes()), " and ",
           show_sizes(leaf.sizes()), "; read them padded or one by one");
    }
  }
  return Value(stack_leaves(leaves, lazy.stack_dim()));
}

std::optional<Value> stacked_entry(const LazyNode& lazy, std::string_view name) {
  StackedEntries known;
  return stacked_entry(lazy, name, known);
}

}  // namespace

NodePtr LazyNode::dense_form() const {
  if (holds_non_tensor()) return retain(*this);
  auto result = c10::make_intrusive<DenseNode>(known_sizes(batch()), device());
  for (const std::string& name : entry_names()) result->put(name, *stacked_entry(*this, name));
  copy_tags(*this, *result);
  return result;
}

std::optional<Value> LazyNode::entry(std::string_view name) const {
  return holds_non_tensor() ? std::nullopt : stacked_entry(*this, name);
}

EntryKind LazyNode::entry_kind(std::string_view name) const {
  if (holds_non_tensor()) return EntryKind::none;
  const bool everywhere = holds_for_all(
      *this, [&](const Node& element) { return element.entry_kind(name) != EntryKind::none; });
  if (!everywhere) return EntryKind::none;
  const Node* last = this;
  while (const LazyNode* lazy = as_lazy(last)) last = lazy->elements().back().get();
  return last->entry_kind(name);
}

// The names of the first dictionary that all others have, too.
std::vector<std::string> LazyNode::entry_names() const {
  if (holds_non_tensor() || elements_.empty()) return {};
  const Node* first = this;
  while (const LazyNode* lazy = as_lazy(first)) {
    if (lazy->elements().empty()) return {};
    first = lazy->elements()[0].get();
  }
  std::vector<std::string> names = first->entry_names();
  const bool some = holds_for_all(*this, [&](const Node& element) {
    const auto missing = [&](const std::string& name) {
      return element.entry_kind(name) == EntryKind::none;
    };
    if (&element != first)
      names.erase(std::remove_if(names.begin(), names.end(), missing), names.end());
    return !names.empty();
  });
  return some ? names : std::vector<std::string>();
}

}  // namespace td
