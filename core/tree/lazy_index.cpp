#include "core/tree/lazy_index.h"

#include "core/base/recursion_guard.h"
#include "core/tensor/assign.h"
#include "core/tensor/index_items.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/tensordict.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

// Whether the item adds a shape of its own to the result.
bool is_advanced(const IndexItem& item) {
  return item.kind == IndexKind::boolean ||
         (item.kind == IndexKind::tensor && (is_mask(item.tensor) || item.tensor.dim() > 0));
}

// Expands the ellipsis.
std::vector<IndexItem> spelled_out(c10::ArrayRef<IndexItem> items, std::size_t dims) {
  std::size_t used = 0;
  for (const IndexItem& item : items) used += static_cast<std::size_t>(dims_used(item));
  std::vector<IndexItem> result;
  bool seen = false;
  for (const IndexItem& item : items) {
    if (item.kind != IndexKind::ellipsis) {
      result.push_back(item);
      continue;
    }
    if (seen) fail(Code::index, "an index may hold one ellipsis only");
    seen = true;
    for (std::size_t i = used; i < dims; ++i) {
      result.push_back(IndexItem::range(std::nullopt, std::nullopt));
    }
  }
  if (used > dims) {
    fail(Code::index, "too many indices: ", used, " for a batch size of ", dims, " dimensions");
  }
  return result;
}

// The positions that an item picks among `n`, and their shape in the result.
void pick(const IndexItem& item, std::int64_t n, std::vector<std::int64_t>& picks, Sizes& shape) {
  if (item.kind == IndexKind::integer) {
    const std::int64_t asked = item.start.value_or(0);
    if (asked < -n || asked >= n) {
      fail(Code::index, "index ", asked, " is out of range for a lazy stack of ", n);
    }
    picks.assign(1, asked < 0 ? asked + n : asked);
    return;
  }
  const IndexPlan plan(item, SizesView(n));
  if (item.kind == IndexKind::slice) {
    const ViewPlan::Dim& dim = plan.view().dims()[0];
    for (std::int64_t i = 0; i < dim.size; ++i) picks.push_back(dim.start + i * dim.step);
    shape.assign(1, dim.size);
    return;
  }
  const at::NoGradGuard no_grad;
  const at::Tensor positions =
      plan.read(at::arange(n, at::kLong), /*fast=*/false).to(at::kCPU).contiguous();
  const std::int64_t* values = positions.data_ptr<std::int64_t>();
  picks.assign(values, values + positions.numel());
  shape.assign(positions.sizes().begin(), positions.sizes().end());
}

}  // namespace

LazyIndex::LazyIndex(c10::ArrayRef<IndexItem> items, std::size_t dims, const LazyNode& lazy) {
  const auto stack = static_cast<std::size_t>(lazy.stack_dim());
  const auto n = static_cast<std::int64_t>(lazy.elements().size());
  const std::vector<IndexItem> all = spelled_out(items, dims);
  std::optional<std::size_t> own;  // the item for the stack's dimension
  std::size_t source = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t end = source + static_cast<std::size_t>(dims_used(all[i]));
    if (source <= stack && stack < end) {
      own = i;
      separable = end - source == 1;
    }
    source = end;
  }
  // Find the index tensors before and after the stack's dimension.
  std::size_t before = 0, after = 0, rank = 0;  // number of index tensors, and rank of their result
  std::size_t plain_before = 0;                 // other leading dimensions of the result
  bool adjacent = true;
  std::optional<std::size_t> last;
  std::size_t place = 0;
  source = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const IndexItem& item = all[i];
    const bool ahead = own ? i < *own : source <= stack;
    const bool advanced = is_advanced(item);
    if (own && i == *own) {
      separable = separable && !(advanced && before + after > 0);
      if (!advanced) ++place;
    } else if (advanced) {
      (ahead ? before : after) += 1;
      rank = std::max(rank, item.kind == IndexKind::boolean || is_mask(item.tensor)
                                ? std::size_t{1}
                                : static_cast<std::size_t>(item.tensor.dim()));
      adjacent = adjacent && (!last || *last + 1 == place);
      last = place++;
      if (own && is_advanced(all[*own])) separable = false;
    } else if (item.kind == IndexKind::slice || item.kind == IndexKind::none) {
      ++place;
      if (ahead) ++plain_before;
    }
    source += static_cast<std::size_t>(dims_used(item));
  }
  if (!own && stack >= source) plain_before += stack - source;
  if (before > 0 && after > 0) separable = false;
  if (!separable) return;
  const bool in_front = !adjacent || before > 0;  // before the stack's dimension
  result_dim =
      static_cast<std::int64_t>(plain_before + (before + after > 0 && in_front ? rank : 0));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!own || i != *own) rest.push_back(all[i]);
  }
  rest_is_whole = is_whole(rest);
  if (own) {
    pick(all[*own], n, picks, shape);
    return;
  }
  shape.assign({n});
  for (std::int64_t i = 0; i < n; ++i) picks.push_back(i);
}

namespace {

// Builds nested stacks in the shape of the picks.
NodePtr nest(const std::vector<NodePtr>& elements, std::size_t& next, SizesView shape,
             const LazyIndex& at, const LazyNode& lazy, SizesView inner) {
  if (shape.empty()) return elements[next++];
  std::vector<NodePtr> nodes;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    nodes.push_back(nest(elements, next, shape.slice(1), at, lazy, inner));
  }
  Sizes batch(inner.begin(), inner.end());
  batch.insert(batch.begin() + at.result_dim, shape.begin(), shape.end());
  auto result = c10::make_intrusive<LazyNode>(std::vector<NodePtr>{}, at.result_dim, batch,
                                              lazy.device(), lazy.holds_non_tensor());
  if (!nodes.empty()) result->set_elements(std::move(nodes));
  return result;
}

// Nothing of a lazy stack: a dense dictionary with the entries that all elements have, in the sizes that those
// of the first one get.
class NoRows final : public ZipOp {
 public:
  NoRows(const LazyNode& lazy, c10::ArrayRef<IndexItem> items, std::size_t dims)
      : stack_(lazy.stack_dim()),
        count_(static_cast<std::int64_t>(lazy.elements().size())),
        batch_(lazy.elements()[0]->batch()),
        plan_(items, SizesView(stacked_sizes(batch_)).slice(0, dims)) {}

  Sizes batch(SizesView before) const override { return plan_.sizes(stacked_sizes(before)); }
  void tags(const Node& before, Node& after) const override {
    after.set_tensorclass(before.tensorclass());
  }
  at::Tensor leaf(const Here&, Tensors tensors) const override {
    return at::empty(batch(tensors[0]->sizes()), tensors[0]->options());
  }
  Value data(const Here&, NodesHere nodes) const override {
    return make_non_tensor({}, at::empty(batch(nodes[0]->batch()), at::kLong), nodes[0]->device());
  }
  Names names(const Names& full) const { return plan_.names(full); }

 private:
  // The batch size of a nested dictionary may have changed through another handle.
  Sizes stacked_sizes(SizesView one) const {
    if (!begins_with(one, batch_)) {
      fail(Code::shape, "batch dimension mismatch: an entry of an element has shape ",
           show_sizes(one), ", which does not begin with the batch size ", show_sizes(batch_));
    }
    Sizes sizes(one.begin(), one.end());
    sizes.insert(sizes.begin() + stack_, count_);
    return sizes;
  }

  std::int64_t stack_, count_;
  SizesView batch_;  // of an element, which lives as long
  IndexPlan plan_;
};

NodePtr no_rows(const LazyNode& lazy, c10::ArrayRef<IndexItem> items, std::size_t dims) {
  WalkRules rules;
  rules.missing = WalkRules::Missing::intersect;
  rules.what = "an index without positions";
  const std::vector<NodePtr> elements = lazy.each(without_lazy);
  const NoRows op(lazy, items, dims);
  NodePtr result = zip(elements, op, rules);
  if (lazy.tensorclass()) result->set_tensorclass(lazy.tensorclass());
  if (!lazy.names().empty()) result->set_names(op.names(lazy.names()));
  return result;
}

}  // namespace

NodePtr read_lazy(const LazyNode& lazy, c10::ArrayRef<IndexItem> items, std::size_t dims) {
  const RecursionGuard guard;
  // The common case: a single element.
  if (lazy.stack_dim() == 0 && items.size() == 1 && items[0].kind == IndexKind::integer) {
    const auto n = static_cast<std::int64_t>(lazy.elements().size());
    const std::int64_t asked = items[0].start.value_or(0);
    if (asked >= -n && asked < n) {
      return lazy.elements()[static_cast<std::size_t>(asked < 0 ? asked + n : asked)];
    }
  }
  require_elements(lazy);
  const LazyIndex at(items, dims, lazy);
  if (!at.separable) {
    // The ellipsis covers dimensions of the dictionary above, not of this stack.
    if (!lazy.holds_non_tensor())
      return read_at(dense_form(retain(lazy)), spelled_out(items, dims));
    const std::vector<const NonTensorNode*> values = non_tensor_values(lazy);
    const IndexPlan plan(items, known_sizes(lazy.batch()).slice(0, dims));
    const at::Tensor positions =
        at::arange(static_cast<std::int64_t>(values.size()), at::kLong).view(lazy.batch());
    return make_non_tensor(values, plan.read(positions, false), lazy.device());
  }
  if (at.picks.empty() && !lazy.elements().empty() && !lazy.holds_non_tensor())
    return no_rows(lazy, items, dims);
  std::vector<NodePtr> elements;
  for (const std::int64_t position : at.picks) {
    const NodePtr& element = lazy.elements()[static_cast<std::size_t>(position)];
    elements.push_back(at.rest_is_whole ? element : read_at(element, at.rest));
  }
  Sizes inner;
  if (elements.empty()) {
    Sizes batch(lazy.batch().begin(), lazy.batch().end());
    batch.erase(batch.begin() + lazy.stack_dim());
    inner = IndexPlan(at.rest, batch).sizes(batch);
  } else {
    inner.assign(elements[0]->batch().begin(), elements[0]->batch().end());
  }
  std::size_t next = 0;
  NodePtr result = nest(elements, next, at.shape, at, lazy, inner);
  if (!at.shape.empty() && !lazy.names().empty()) {
    // Where elements differ in length, use the first one read.
    Sizes batch(lazy.batch().begin(), lazy.batch().begin() + dims);
    for (std::size_t i = 0; i < batch.size() && !at.picks.empty(); ++i) {
      if (batch[i] >= 0) continue;
      const NodePtr& read = lazy.elements()[static_cast<std::size_t>(at.picks[0])];
      batch[i] = read->batch()[static_cast<std::int64_t>(i) < lazy.stack_dim() ? i : i - 1];
    }
    const IndexPlan plan(items, batch);
    result->set_names(plan.names(lazy.names()));
  }
  return result;
}

}  // namespace td
