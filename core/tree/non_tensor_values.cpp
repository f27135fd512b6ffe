#include "core/tree/non_tensor_values.h"

#include "core/formats/events.h"
#include "core/formats/json_text.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/batch_op.h"
#include "core/tree/nested_tensor.h"

#include <ATen/ATen.h>

namespace td {

namespace {

// The value at one position, with an index for each batch dimension.
const NonTensorNode* value_at(const Node& node, c10::SmallVectorImpl<std::int64_t>& at) {
  const Node* inner = &node;
  while (const LazyNode* lazy = as_lazy(inner)) {
    const auto dim = static_cast<std::size_t>(lazy->stack_dim());
    inner = lazy->elements()[static_cast<std::size_t>(at[dim])].get();
    at.erase(at.begin() + lazy->stack_dim());
  }
  return static_cast<const NonTensorNode*>(inner);
}

// Limits lists of empty lists: a size of 0 leaves the sizes before it unbounded.
void require_few_lists(SizesView sizes) {
  constexpr std::int64_t most = 1000000;
  if (count_elements(sizes) != 0) return;
  std::int64_t lists = 1;
  for (const std::int64_t size : sizes) {
    if (size == 0) return;
    if (size > most / lists) {
      fail(Code::shape, "non-tensor values for batch size ", show_sizes(sizes), ": more than ",
           most, " empty lists");
    }
    lists *= size;
  }
}

NodePtr build(const std::vector<const NonTensorNode*>& values, const std::int64_t*& next,
              SizesView sizes, std::optional<c10::Device> device) {
  if (sizes.empty()) {
    const NonTensorNode* value = values[static_cast<std::size_t>(*next++)];
    return c10::make_intrusive<NonTensorNode>(value->value(), SizesView{}, device);
  }
  std::vector<NodePtr> elements;
  elements.reserve(static_cast<std::size_t>(sizes[0]));
  for (std::int64_t i = 0; i < sizes[0]; ++i) {
    elements.push_back(build(values, next, sizes.slice(1), device));
  }
  return c10::make_intrusive<LazyNode>(std::move(elements), 0, sizes, device,
                                       /*holds_non_tensor=*/true);
}

NodePtr take_apart(const Plain& lists, SizesView batch, std::optional<c10::Device> device) {
  if (batch.empty()) return c10::make_intrusive<NonTensorNode>(lists, batch, device);
  const bool is_list = lists.is(Plain::list);
  if (!is_list || static_cast<std::int64_t>(lists.items().size()) != batch[0]) {
    fail(Code::shape, "a list of ", batch[0], " values is needed for batch size ",
         show_sizes(batch), ", found ",
         is_list ? "one of " + std::to_string(lists.items().size()) : "no list");
  }
  std::vector<NodePtr> elements;
  for (const Plain& one : lists.items())
    elements.push_back(take_apart(one, batch.slice(1), device));
  return c10::make_intrusive<LazyNode>(std::move(elements), 0, batch, device,
                                       /*holds_non_tensor=*/true);
}

}  // namespace

std::vector<const NonTensorNode*> non_tensor_values(const Node& node) {
  if (node.kind() == NodeKind::nested_tensor) {
    fail(Code::unsupported,
         "a nested tensor is not non-tensor data: it cannot be read as JSON or rearranged");
  }
  const SizesView batch = known_sizes(node.batch());
  const std::int64_t n = count_elements(batch);
  std::vector<const NonTensorNode*> values;
  if (const auto* one = node.kind() == NodeKind::non_tensor
                            ? static_cast<const NonTensorNode*>(&node)
                            : nullptr) {
    values.assign(static_cast<std::size_t>(n), one);
    return values;
  }
  values.reserve(static_cast<std::size_t>(n));
  c10::SmallVector<std::int64_t, 6> at;
  for (std::int64_t i = 0; i < n; ++i) {
    at.resize(batch.size());
    std::int64_t left = i;
    for (std::size_t d = batch.size(); d-- > 0; left /= batch[d]) at[d] = left % batch[d];
    values.push_back(value_at(node, at));
  }
  return values;
}

const Plain* common_value(const Node& node) noexcept {
  const LazyNode* lazy = as_lazy(&node);
  if (lazy == nullptr) return one_value(node);
  const Plain* common = nullptr;
  for (const NodePtr& element : lazy->elements()) {
    const Plain* one = common_value(*element);
    if (one == nullptr || (common != nullptr && *one != *common)) return nullptr;
    common = one;
  }
  return common;
}

NodePtr make_non_tensor(const std::vector<const NonTensorNode*>& values,
                        const at::Tensor& positions, std::optional<c10::Device> device) {
  const at::Tensor dense = positions.contiguous();
  require_few_lists(dense.sizes());
  const std::int64_t* next = dense.data_ptr<std::int64_t>();
  return build(values, next, dense.sizes(), device);
}

NodePtr rearrange_non_tensor(const NodePtr& node, const BatchOp& op) {
  const at::NoGradGuard no_grad;
  const std::vector<const NonTensorNode*> values = non_tensor_values(*node);
  const at::Tensor positions =
      op.leaf(at::arange(static_cast<std::int64_t>(values.size()), at::kLong).view(node->batch()));
  // Non-tensor values can be moved, but not filled or computed with.
  bool moves = positions.scalar_type() == at::kLong;
  if (moves && positions.numel() != 0) {
    moves = positions.min().item<std::int64_t>() >= 0 &&
            positions.max().item<std::int64_t>() < static_cast<std::int64_t>(values.size());
  }
  if (!moves) {
    fail(Code::unsupported,
         "non-tensor values, one for each element of the batch, cannot "
         "follow this operation: remove them first");
  }
  NodePtr result = make_non_tensor(values, positions, op.device(node->device()));
  if (node->tagged()) op.tags(*node, *result);
  return result;
}

Plain non_tensor_lists(const Node& node) {
  const SizesView batch = node.batch();
  if (const Plain* one = one_value(node); one != nullptr && batch.empty()) return *one;
  if (const LazyNode* lazy = as_lazy(&node); lazy != nullptr && is_uneven(batch)) {
    // Each list has its element's length; along other dimensions uneven lists cannot be represented.
    if (lazy->stack_dim() != 0) known_sizes(batch);
    std::vector<Plain> lists;
    for (const NodePtr& element : lazy->elements()) lists.push_back(non_tensor_lists(*element));
    return Plain::of_list(std::move(lists));
  }
  require_few_lists(batch);
  const std::vector<const NonTensorNode*> values = non_tensor_values(node);
  std::size_t next = 0;
  // The depth is the number of batch dimensions.
  const auto make = [&](const auto& self, std::size_t depth) -> Plain {
    if (depth == batch.size()) return values[next++]->value();
    std::vector<Plain> items;
    items.reserve(static_cast<std::size_t>(batch[depth]));
    for (std::int64_t i = 0; i < batch[depth]; ++i) items.push_back(self(self, depth + 1));
    return Plain::of_list(std::move(items));
  };
  return make(make, 0);
}

std::string non_tensor_json(const Node& node) {
  JsonEvents text;
  const auto write = [&](const auto& self, const Plain& lists, std::size_t levels) -> void {
    if (levels == 0) return send(lists, text);
    text.open(false);
    for (const Plain& item : lists.items()) {
      if (&item != lists.items().begin()) text.add_space();
      self(self, item, levels - 1);
    }
    text.close(false);
  };
  write(write, non_tensor_lists(node), node.batch().size());
  return text.take();
}

NodePtr non_tensor_of_lists(const Plain& lists, SizesView batch,
                            std::optional<c10::Device> device) {
  return take_apart(lists, batch, device);
}

NodePtr non_tensor_from_json(std::string_view text, SizesView batch,
                             std::optional<c10::Device> device) {
  // The lists of the batch add to the nesting of an element's value.
  const std::size_t deepest = max_json_depth + batch.size();
  return take_apart(read_json(text, "the text", deepest, Repeated::kept), batch, device);
}

bool same_non_tensor(const Node& a, const Node& b) {
  const NestedTensorNode* one = as_nested_tensor(&a);
  const NestedTensorNode* two = as_nested_tensor(&b);
  if (one != nullptr || two != nullptr) {
    return one != nullptr && two != nullptr && same_nested_tensor(*one, *two);
  }
  if (a.batch() != b.batch()) return false;
  const std::vector<const NonTensorNode*> left = non_tensor_values(a);
  const std::vector<const NonTensorNode*> right = non_tensor_values(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] != right[i] && left[i]->value() != right[i]->value()) return false;
  }
  return true;
}

}  // namespace td
