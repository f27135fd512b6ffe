// Operations of lazy stacks only: adding elements, and reading tensors of different shapes.
#include "core/base/recursion_guard.h"
#include "core/tensor/assign.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/scalar.h"
#include "core/tree/dense_copy.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/paths.h"
#include "core/tree/tensordict.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <set>

namespace td {

namespace {

const LazyNode& require_lazy(const NodePtr& node) {
  const LazyNode* lazy = as_lazy(node.get());
  if (lazy == nullptr || lazy->holds_non_tensor()) {
    fail(Code::wrong_entry, "this dictionary is not a lazy stack");
  }
  return *lazy;
}

void check_element(const NodePtr& target, const LazyNode& lazy, const NodePtr& element) {
  if (element->kind() == NodeKind::sub_tensordict) {
    fail(Code::unsupported, "a sub-tensordict cannot be put into a lazy stack: clone it first");
  }
  if (is_opaque(*element)) {
    fail(Code::wrong_entry, "a lazy stack holds dictionaries; this is a value");
  }
  Sizes wanted(lazy.batch().begin(), lazy.batch().end());
  wanted.erase(wanted.begin() + lazy.stack_dim());
  bool fits = element->batch().size() == wanted.size();
  for (std::size_t i = 0; fits && i < wanted.size(); ++i) {
    fits = wanted[i] < 0 || element->batch()[i] == wanted[i];
  }
  if (!fits) {
    fail(Code::shape, "the lazy stack holds dictionaries of batch size ", show_sizes(wanted),
         ", this one has ", show_sizes(element->batch()));
  }
  if (element->device() != lazy.device()) {
    const auto show = [](const std::optional<c10::Device>& device) {
      return device ? device->str() : std::string("none");
    };
    fail(Code::device, "the lazy stack is on device ", show(lazy.device()), ", the dictionary on ",
         show(element->device()));
  }
  if (reaches(element, {target.get()})) {
    fail(Code::cycle, "a lazy stack cannot be an element of itself");
  }
}

void insert(const NodePtr& target, std::int64_t position, c10::ArrayRef<NodePtr> elements) {
  const LazyNode& lazy = require_lazy(target);
  if (is_locked(lazy)) fail_locked();
  const auto n = static_cast<std::int64_t>(lazy.elements().size());
  if (position < -n || position > n) {
    fail(Code::index, "position ", position, " is out of range for a lazy stack of ", n);
  }
  if (position < 0) position += n;
  for (const NodePtr& element : elements) check_element(target, lazy, element);
  Changes changes;
  changes.insert(lazy, static_cast<std::size_t>(position), elements);
  changes.run();
}

// The first lazy stack on a path, and the rest of the path.
std::pair<NodePtr, Path> stack_on(const NodePtr& root, Path path) {
  check_path(path);
  NodePtr node = root->kind() == NodeKind::sub_tensordict ? dense_form(root) : root;
  std::size_t i = 0;
  while (as_lazy(node.get()) == nullptr && i + 1 < path.size()) {
    const Value value = find_entry(node, path.slice(i, 1));
    if (!value.is_node()) fail_kind(path.slice(0, i + 1), value, "dictionary");
    node = value.node();
    ++i;
  }
  if (as_lazy(node.get()) == nullptr) {
    fail(Code::wrong_entry, "no lazy stack on the path ", show_path(path));
  }
  return {node, path.slice(i)};
}

}  // namespace

void lazy_insert(const NodePtr& lazy, std::int64_t position, const NodePtr& element) {
  insert(lazy, position, element);
}

void lazy_extend(const NodePtr& lazy, c10::ArrayRef<NodePtr> elements) {
  insert(lazy, static_cast<std::int64_t>(require_lazy(lazy).elements().size()), elements);
}

LeafLook look_at_leaf(const NodePtr& node, std::string_view name) {
  const LazyNode* lazy = as_lazy(node.get());
  if (lazy == nullptr) {
    const at::Tensor tensor = entry_of(node, name)->tensor();
    return {Sizes(tensor.sizes().begin(), tensor.sizes().end()), tensor};
  }
  const RecursionGuard guard;
  std::optional<LeafLook> look;
  for (const NodePtr& element : lazy->elements()) {
    LeafLook own = look_at_leaf(element, name);
    if (!look) {
      look = std::move(own);
      continue;
    }
    if (own.sizes.size() != look->sizes.size()) {
      look->sizes.assign(1, -1);
      break;
    }
    for (std::size_t i = 0; i < own.sizes.size(); ++i) {
      if (own.sizes[i] != look->sizes[i]) look->sizes[i] = -1;
    }
  }
  if (look->sizes.size() >= static_cast<std::size_t>(lazy->stack_dim())) {
    look->sizes.insert(look->sizes.begin() + lazy->stack_dim(),
                       static_cast<std::int64_t>(lazy->elements().size()));
  }
  return *std::move(look);
}

std::vector<at::Tensor> lazy_get_list(const NodePtr& node, Path path) {
  const auto [stack, rest] = stack_on(node, path);
  std::vector<at::Tensor> result;
  for (const NodePtr& element : as_lazy(stack.get())->elements()) {
    result.push_back(TensorDict(element).get(rest));
  }
  return result;
}

at::Tensor lazy_get_padded(const NodePtr& node, Path path, const PaddingOptions& options) {
  const auto [stack, rest] = stack_on(node, path);
  const std::vector<at::Tensor> leaves = lazy_get_list(node, path);
  if (leaves.empty()) fail(Code::key_not_found, "no entry ", show_path(path), " in an empty stack");
  return stack_padded(leaves, as_lazy(stack.get())->stack_dim(), show_path(path), options);
}

at::Tensor stack_padded(c10::ArrayRef<at::Tensor> leaves, std::int64_t dim, const std::string& name,
                        const PaddingOptions& options) {
  Sizes longest(leaves[0].sizes().begin(), leaves[0].sizes().end());
  for (const at::Tensor& leaf : leaves) {
    if (leaf.dim() != leaves[0].dim()) {
      fail(Code::shape, "the tensors of ", name, " have ", leaves[0].dim(), " and ", leaf.dim(),
           " dimensions and cannot be padded to one shape");
    }
    for (std::size_t i = 0; i < longest.size(); ++i) {
      longest[i] = std::max(longest[i], leaf.sizes()[i]);
    }
  }
  std::vector<at::Tensor> padded;
  for (const at::Tensor& leaf : leaves) {
    std::vector<std::int64_t> amounts;  // from the last dimension to the first: before, after
    for (std::size_t i = longest.size(); i-- > 0;) {
      const std::int64_t missing = longest[i] - leaf.sizes()[i];
      amounts.push_back(options.left ? missing : 0);
      amounts.push_back(options.left ? 0 : missing);
    }
    padded.push_back(padded_by(leaf, amounts, options.padding_value, "padding"));
  }
  return at::stack(padded, dim);
}

JaggedValues lazy_get_jagged(const NodePtr& node, Path path) {
  const std::vector<at::Tensor> leaves = lazy_get_list(node, path);
  JaggedValues result;
  std::vector<std::int64_t> offsets{0};
  for (const at::Tensor& leaf : leaves) {
    if (leaf.dim() == 0) {
      fail(Code::shape, "the tensors of ", show_path(path),
           " have no dimension to be joined along");
    }
    if (leaf.sizes().slice(1) != leaves[0].sizes().slice(1)) {
      fail(Code::shape, "the tensors of ", show_path(path),
           " differ in more than their first dimension: ", show_sizes(leaves[0].sizes()), " and ",
           show_sizes(leaf.sizes()));
    }
    offsets.push_back(offsets.back() + leaf.size(0));
  }
  if (leaves.empty()) fail(Code::key_not_found, "no entry ", show_path(path), " in an empty stack");
  result.values = at::cat(leaves, 0);
  result.offsets = at::tensor(offsets, at::kLong);
  return result;
}

namespace {

// Reads a lazy stack one level deep; `options` say what becomes of tensors of different shapes.
NodePtr uneven_form(const NodePtr& node, const LazyNode& lazy, const PaddingOptions& options) {
  auto result = c10::make_intrusive<DenseNode>(known_sizes(lazy.batch()), lazy.device());
  for (const std::string& name : entry_names(lazy)) {
    const std::string_view view = name;
    if (kind_below(node, name) != EntryKind::tensor) {
      result->put(name, *entry_of(node, name));
      continue;
    }
    const std::vector<at::Tensor> leaves = lazy_get_list(node, view);
    const auto same = [&](const at::Tensor& leaf) { return leaf.sizes() == leaves[0].sizes(); };
    const bool even = std::all_of(leaves.begin(), leaves.end(), same);
    if (!options.nested_tensor || even) {
      result->put(name, stack_padded(leaves, lazy.stack_dim(), show_path(view), options));
      continue;
    }
    if (lazy.stack_dim() != 0) {
      fail(Code::unsupported, show_path(view), " differs in shape along dimension ",
           lazy.stack_dim(), "; a nested tensor is stacked along dimension 0");
    }
    const NestedTensorPtr nested_tensor =
        for_batch(*make_nested_tensor(leaves), lazy.batch(), show_path(view));
    nested_tensor->set_device(lazy.device());
    result->put(name, NodePtr(nested_tensor));
  }
  copy_tags(lazy, *result);
  return result;
}

}  // namespace

NodePtr to_padded(const NodePtr& root, const PaddingOptions& options) {
  const auto form = [&](const NodePtr& node) {
    const LazyNode* lazy = is_opaque(*node) ? nullptr : as_lazy(node.get());
    return lazy != nullptr ? uneven_form(node, *lazy, options) : dense_form(node);
  };
  const auto values = [&](const Node& node) -> std::optional<at::Tensor> {
    const NestedTensorNode* nested_tensor =
        options.nested_tensor ? nullptr : as_nested_tensor(&node);
    if (nested_tensor == nullptr) return std::nullopt;
    return padded(*nested_tensor, options.padding_value, options.left);
  };
  return copy_dense(root, form, values);
}

NodePtr to_lazy(const NodePtr& node, std::int64_t dim) {
  std::vector<NodePtr> parts;
  for (const TensorDict& part : TensorDict(node).unbind(dim)) parts.push_back(part.node());
  if (parts.empty()) {
    fail(Code::shape, "a dictionary of batch size ", show_sizes(node->batch()),
         " has size 0 along dimension ", dim, ": a lazy stack needs at least one element");
  }
  const auto n = static_cast<std::int64_t>(node->batch().size());
  return lazy_stack(std::move(parts), dim < 0 ? dim + n : dim);
}

KeyList exclusive_keys(const LazyNode& lazy) {
  std::vector<std::string> common = entry_names(lazy);
  std::sort(common.begin(), common.end());
  std::map<std::string, EntryKind> found;
  for (const NodePtr& element : lazy.elements()) {
    for (std::string& name : entry_names(*element)) {
      if (std::binary_search(common.begin(), common.end(), name)) continue;
      const EntryKind kind = kind_below(element, name);
      found.emplace(std::move(name), kind);
    }
  }
  KeyList result;
  for (const auto& [name, kind] : found) result.keys.push_back({{name}, kind});
  return result;
}

std::vector<KeyList::Key> keys_lost(const LazyNode& lazy) {
  const RecursionGuard guard;
  std::vector<KeyList::Key> lost = exclusive_keys(lazy).keys;
  for (const NodePtr& element : lazy.elements()) {
    if (!is_lazy_stack(*element)) continue;
    const std::vector<KeyList::Key> below = keys_lost(*as_lazy(element.get()));
    lost.insert(lost.end(), below.begin(), below.end());
  }
  return lost;
}

std::int64_t unequal_along(const Node& one, const Node& other) {
  if (!is_lazy_stack(one) || !is_lazy_stack(other)) return -1;
  const LazyNode &first = stack_of(one), &second = stack_of(other);
  if (first.stack_dim() != second.stack_dim() ||
      first.elements().size() != second.elements().size())
    return -1;
  const bool unequal = !keys_lost(first).empty() || !keys_lost(second).empty();
  return unequal ? first.stack_dim() : -1;
}

NodePtr each_of_both(
    const Node& one, const Node& other,
    const std::function<NodePtr(std::int64_t, const NodePtr&, const NodePtr&)>& f) {
  const RecursionGuard guard;
  const c10::ArrayRef<NodePtr> first = stacked(one), second = stacked(other);
  std::vector<NodePtr> elements;
  for (std::size_t i = 0; i < first.size(); ++i)
    elements.push_back(f(static_cast<std::int64_t>(i), first[i], second[i]));
  return stack_of(one).with_elements(std::move(elements));
}

NodePtr dense_with_all_keys(const NodePtr& root) {
  const auto form = [](const NodePtr& node) {
    std::set<std::string> lost;
    if (is_lazy_stack(*node)) {
      for (const KeyList::Key& key : keys_lost(*as_lazy(node.get()))) lost.insert(key.path[0]);
    }
    if (!lost.empty()) {
      std::string names;
      for (const std::string& name : lost) names += (names.empty() ? "\"" : ", \"") + name + '"';
      fail(Code::unsupported, "only some elements of a lazy stack have ", names,
           ", and this file keeps what all elements have: save a folder, or the elements one by "
           "one");
    }
    return dense_form(node);
  };
  return copy_dense(picked_form(root), form,
                    [](const Node&) { return std::optional<at::Tensor>(); });
}

}  // namespace td
