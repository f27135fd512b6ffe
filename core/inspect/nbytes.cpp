#include "core/inspect/nbytes.h"

#include "core/tensor/foreign.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace td {

namespace {

// Sums over all tensors, or once over each distinct tensor.
template <class F>
std::int64_t sum(const TensorDict& td, bool once, F&& f) {
  const NodePtr root = part_form(td.node());
  std::size_t total = 0;
  if (once) {
    std::unordered_set<const c10::TensorImpl*> seen;
    visit_nodes(root, [&](const Node& node) {
      for_each_leaf(node, [&](const at::Tensor& leaf) {
        if (seen.insert(leaf.unsafeGetTensorImpl()).second)
          total += static_cast<std::size_t>(f(leaf));
      });
    });
  } else {
    total = sum_of_paths(root, [&](const Node& node) {
      std::size_t own = 0;
      for_each_leaf(node,
                    [&](const at::Tensor& leaf) { own += static_cast<std::size_t>(f(leaf)); });
      return own;
    });
  }
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min<std::size_t>(total, most));
}

template <class F>
bool all_of(const TensorDict& td, F&& f) {
  bool all = true;
  visit_values(*td.node(), [&](const Value& value) {
    const at::Tensor* leaf = elements_of(value);
    all = all && (leaf == nullptr || f(*leaf));
  });
  return all;
}

std::size_t bytes_with_gradient(const at::Tensor& leaf) {
  const bool has = leaf.is_leaf() && leaf.grad().defined();
  return bytes_of(leaf) + (has ? bytes_of(leaf.grad()) : 0);
}

}  // namespace

std::int64_t measure(const TensorDict& td, Measure what) {
  const bool once = what == Measure::elements_once || what == Measure::bytes_once;
  switch (what) {
    case Measure::elements:
    case Measure::elements_once:
      return sum(td, once, [](const at::Tensor& leaf) { return leaf.numel(); });
    case Measure::bytes:
    case Measure::bytes_once: return sum(td, once, bytes_with_gradient);
    case Measure::is_floating_point:
      return all_of(td, [](const at::Tensor& leaf) { return leaf.is_floating_point(); }) ? 1 : 0;
    case Measure::requires_grad:
      return all_of(td, [](const at::Tensor& leaf) { return !leaf.requires_grad(); }) ? 0 : 1;
    case Measure::is_pinned:
      return all_of(td, [](const at::Tensor& leaf) { return leaf.is_pinned(); }) ? 1 : 0;
  }
  fail(Code::invalid_argument, "no measure has the number ", static_cast<int>(what));
}

std::vector<std::int64_t> data_pointers(const TensorDict& td, bool storage) {
  std::vector<std::int64_t> result;
  // Count stored tensors: those of a lazy stack's elements, not copies read from it.
  WalkRules policy;
  policy.nested_tensor = true;  // skips nested tensors like other values
  const auto add = [&](const Here&, Tensors tensors) {
    const at::Tensor& leaf = *tensors[0];
    const void* first = data_of(leaf);
    if (storage && first != nullptr) {
      first = static_cast<const char*>(first) - leaf.storage_offset() * leaf.element_size();
    }
    result.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(first)));
  };
  visit_zip(td.node(), Take::elements, add, policy);
  return result;
}

}  // namespace td
