// Writes part of a lazy stack: each element with its part of the source.
#include "core/base/recursion_guard.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/index_write.h"
#include "core/tree/lazy_index.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/tensordict.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace td {

void IndexWrite::plan_lazy(const LazyNode& target, c10::ArrayRef<IndexItem> items, std::size_t dims,
                           const NodePtr& source) {
  const RecursionGuard guard;
  require_elements(target);
  const LazyIndex at(items, dims, target);
  if (!at.separable) return plan_scattered(target, items, dims, source);
  std::vector<NodePtr> parts{source};
  for (std::size_t d = 0; d < at.shape.size(); ++d) {
    std::vector<NodePtr> finer;
    for (const NodePtr& part : parts) {
      for (const TensorDict& one : TensorDict(part).unbind(at.result_dim))
        finer.push_back(one.node());
    }
    parts = std::move(finer);
  }
  if (parts.size() != at.picks.size()) {
    fail(Code::shape, "a part of ", at.picks.size(),
         " elements of a lazy stack cannot be written with batch size ",
         show_sizes(source->batch()));
  }
  std::vector<bool> touched(target.elements().size(), false);
  for (std::size_t k = 0; k < at.picks.size(); ++k) {
    const auto pick = static_cast<std::size_t>(at.picks[k]);
    touched[pick] = true;
    plan_element(target.elements()[pick], at.rest, parts[k]);
  }
  if (!everywhere_ || std::find(touched.begin(), touched.end(), false) == touched.end()) return;
  const SizesView element = target.elements()[0]->batch().slice(0, dims - 1);
  const std::size_t rest_dims = IndexPlan(at.rest, element).sizes(element).size();
  plan_untouched(target, touched, dims, source, at.shape.size() + rest_dims);
}

void IndexWrite::plan_element(const NodePtr& element, std::vector<IndexItem> items,
                              const NodePtr& source) {
  plan(element, items_.emplace_front(std::move(items)), hold(source));
}

void IndexWrite::plan_scattered(const LazyNode& target, c10::ArrayRef<IndexItem> items,
                                std::size_t dims, const NodePtr& source) {
  const SizesView batch = known_sizes(target.batch()).slice(0, dims);
  const auto stack = static_cast<std::size_t>(target.stack_dim());
  const IndexPlan plan(items, batch);
  const auto n = std::accumulate(batch.begin(), batch.end(), std::int64_t{1}, std::multiplies<>());
  const at::Tensor positions = plan.read(at::arange(n, at::kLong).view(batch), false).reshape({-1});
  Sizes flat{-1};
  const std::size_t part_dims = plan.sizes(batch).size();
  flat.append(source->batch().begin() + part_dims, source->batch().end());
  std::vector<at::Tensor> places(batch.size());  // one number for each dimension
  at::Tensor left = positions;
  for (std::size_t d = batch.size(); d-- > 0;) {
    places[d] = left.remainder(batch[d]);
    left = left.div(batch[d], "floor");
  }
  std::vector<bool> touched(target.elements().size(), false);
  if (is_lazy_stack(*source) && !keys_lost(*as_lazy(source.get())).empty()) {
    plan_one_by_one(target, places, source, part_dims, touched);
    if (everywhere_) plan_untouched(target, touched, dims, source, part_dims);
    return;
  }
  const TensorDict values = TensorDict(dense_form(source)).reshape(flat);
  for (std::size_t k = 0; k < target.elements().size(); ++k) {
    const at::Tensor own = places[stack].eq(static_cast<std::int64_t>(k)).nonzero().reshape({-1});
    if (own.numel() == 0) continue;
    std::vector<IndexItem> rest;
    for (std::size_t d = 0; d < batch.size(); ++d) {
      if (d != stack) rest.push_back(IndexItem::of(places[d].index_select(0, own)));
    }
    // Without other dimensions an element is written as a whole; the last of several values counts.
    const IndexItem which =
        rest.empty() ? IndexItem::at(own[-1].item<std::int64_t>()) : IndexItem::of(own);
    touched[k] = true;
    plan_element(target.elements()[k], rest, values.index(which).node());
  }
  if (everywhere_) plan_untouched(target, touched, dims, source, part_dims);
}

void IndexWrite::plan_one_by_one(const LazyNode& target, const std::vector<at::Tensor>& places,
                                 const NodePtr& source, std::size_t part_dims,
                                 std::vector<bool>& touched) {
  const auto stack = static_cast<std::size_t>(target.stack_dim());
  std::vector<NodePtr> rows{source};
  for (std::size_t d = 0; d < part_dims; ++d) {
    std::vector<NodePtr> finer;
    for (const NodePtr& row : rows) {
      for (const TensorDict& one : TensorDict(row).unbind(0)) finer.push_back(one.node());
    }
    rows = std::move(finer);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto place = [&](std::size_t d) { return places[d].data_ptr<std::int64_t>()[i]; };
    std::vector<IndexItem> rest;
    for (std::size_t d = 0; d < places.size(); ++d) {
      if (d != stack) rest.push_back(IndexItem::at(place(d)));
    }
    const auto k = static_cast<std::size_t>(place(stack));
    touched[k] = true;
    plan_element(target.elements()[k], std::move(rest), rows[i]);
  }
}

void IndexWrite::plan_untouched(const LazyNode& target, const std::vector<bool>& touched,
                                std::size_t dims, const NodePtr& source, std::size_t part_dims) {
  const SizesView part = source->batch().slice(0, part_dims);
  for (std::size_t k = 0; k < touched.size(); ++k) {
    if (!touched[k]) plan_zeros(target.elements()[k], source, dims - 1, part);
  }
}

void IndexWrite::plan_zeros(const NodePtr& element, const NodePtr& source, std::size_t dims,
                            SizesView part) {
  const RecursionGuard guard;
  const std::optional<std::int64_t> along = stack_dim_of(*element);
  if (!along) {
    return plan(element, hold(source), add_scope(element->batch().slice(0, dims), part));
  }
  const c10::ArrayRef<NodePtr> elements = stacked(*element);
  const auto stack = static_cast<std::size_t>(*along);
  std::vector<TensorDict> parts;
  if (stack >= dims) {
    parts = TensorDict(source).unbind(static_cast<std::int64_t>(part.size() + stack - dims));
  }
  for (std::size_t k = 0; k < elements.size(); ++k) {
    plan_zeros(elements[k], stack < dims ? source : parts[k].node(), stack < dims ? dims - 1 : dims,
               part);
  }
}

}  // namespace td
