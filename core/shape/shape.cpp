// Operations that move batch dimensions. Each maps the result's dimensions to the source's; the walk and the
// view do the rest.
#include "core/shape/shape_ops.h"

#include "core/shape/shape.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/batch_op.h"
#include "core/tree/inherit.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/tensordict.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

namespace td {

void inherit_flags(const Node& source, const NodePtr& result, bool memmap) {
  if (memmap && (source.memmapped() || source.shared())) {
    visit_nodes(result, [&](Node& node) {
      node.set_memmapped(source.memmapped());
      node.set_shared(source.shared());
    });
  }
  if (source.locked()) lock(result);
}

namespace {

class ViewOp final : public BatchOp {
 public:
  explicit ViewOp(const ViewPlan& plan) : plan_(plan), fast_(fast::can_skip_dispatcher()) {}
  Sizes batch(SizesView before) const override { return plan_.sizes(before); }
  at::Tensor leaf(const at::Tensor& before) const override { return plan_.apply(before, fast_); }
  void tags(const Node& before, Node& after) const override {
    after.set_tensorclass(before.tensorclass());
    after.set_names(plan_.names(before.names()));
  }
  NodePtr lazy(const LazyNode& node) const override { return view_lazy(node, plan_); }
  Value nested_tensor(const NestedTensorNode& node) const override {
    return rearranged(node, *this);
  }

 private:
  const ViewPlan& plan_;
  bool fast_;
};

}  // namespace

NodePtr apply_plan(const NodePtr& node, const ViewPlan& plan, bool keep_memmap) {
  if (plan.is_identity()) return node;
  NodePtr result = map(node, ViewOp(plan));
  inherit_flags(*node, result, keep_memmap);
  return result;
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t dims, Code code, SizesView batch) {
  if (dim < -dims || dim >= dims) {
    fail(code, "dimension ", dim, " is out of range for batch size ", show_sizes(batch), " of ",
         static_cast<std::int64_t>(batch.size()), batch.size() == 1 ? " dimension" : " dimensions");
  }
  return dim < 0 ? dim + dims : dim;
}

TensorDict TensorDict::permute(SizesView order) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(order.size());
  const auto dims = static_cast<std::int64_t>(batch.size());
  if (order.size() > batch.size()) {
    fail(Code::shape, "permute was given ", n, " dimensions for batch size ", show_sizes(batch));
  }
  ViewPlan plan(batch);
  std::vector<bool> seen(order.size(), false);
  for (const std::int64_t asked : order) {
    const std::int64_t dim = wrap_dim(asked, dims, Code::shape, batch);
    if (dim >= n) {
      fail(Code::shape, "permute was given dimension ", asked, " among ", n,
           n == 1 ? " dimension" : " dimensions", " of batch size ", show_sizes(batch),
           ": give the first dimensions, in any order");
    }
    if (seen[static_cast<std::size_t>(dim)])
      fail(Code::shape, "permute was given dimension ", asked, " twice");
    seen[static_cast<std::size_t>(dim)] = true;
    plan.keep(dim);
  }
  for (auto i = n; i < dims; ++i) plan.keep(i);
  return TensorDict(apply_plan(node_, plan));
}

TensorDict TensorDict::transpose(std::int64_t dim0, std::int64_t dim1) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  dim0 = wrap_dim(dim0, n, Code::shape, batch);
  dim1 = wrap_dim(dim1, n, Code::shape, batch);
  ViewPlan plan(batch);
  for (std::int64_t i = 0; i < n; ++i) plan.keep(i == dim0 ? dim1 : i == dim1 ? dim0 : i);
  return TensorDict(apply_plan(node_, plan));
}

TensorDict TensorDict::squeeze(std::int64_t dim) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  dim = wrap_dim(dim, n, Code::index, batch);
  ViewPlan plan(batch);
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == dim && batch[i] == 1) {
      plan.drop(i, 0);
    } else {
      plan.keep(i);
    }
  }
  return TensorDict(apply_plan(node_, plan));
}

TensorDict TensorDict::squeeze() const {
  const SizesView batch = batch_size();
  ViewPlan plan(batch);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(batch.size()); ++i) {
    if (batch[i] == 1) {
      plan.drop(i, 0);
    } else {
      plan.keep(i);
    }
  }
  return TensorDict(apply_plan(node_, plan, /*keep_memmap=*/false));
}

TensorDict TensorDict::unsqueeze(std::int64_t dim) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  dim = wrap_dim(dim, n + 1, Code::index, batch);
  ViewPlan plan(batch);
  for (std::int64_t i = 0; i <= n; ++i) {
    if (i == dim) plan.add();
    if (i < n) plan.keep(i);
  }
  return TensorDict(apply_plan(node_, plan));
}

TensorDict TensorDict::expand(SizesView sizes) const {
  const SizesView batch = batch_size();
  bool fits = sizes.size() >= batch.size();
  const std::size_t added = fits ? sizes.size() - batch.size() : 0;
  for (std::size_t i = 0; fits && i < sizes.size(); ++i) {
    if (i >= added && batch[i - added] == sizes[i]) continue;  // includes the -1 of a lazy stack
    fits = sizes[i] >= 0 && (i < added || known_size(batch, i - added) == 1);
  }
  if (!fits)
    fail(Code::shape, "batch size ", show_sizes(batch), " cannot be expanded to ",
         show_sizes(sizes));
  ViewPlan plan(batch);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto source = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(added);
    if (source < 0) {
      plan.add(sizes[i]);
    } else if (batch[i - added] == sizes[i]) {
      plan.keep(source);
    } else {
      plan.repeat(source, sizes[i]);
    }
  }
  return TensorDict(apply_plan(node_, plan, /*keep_memmap=*/false));
}

TensorDict move_dims(const TensorDict& td, SizesView from, SizesView to) {
  const SizesView batch = td.batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  if (from.size() != to.size()) {
    fail(Code::shape, "movedim was given ", from.size(), " dimensions and ", to.size(), " places");
  }
  // Place the moved dimensions; the others fill the rest in order.
  std::vector<std::int64_t> order(batch.size(), -1);
  std::vector<bool> moved(batch.size(), false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto source = static_cast<std::size_t>(wrap_dim(from[i], n, Code::index, batch));
    const auto place = static_cast<std::size_t>(wrap_dim(to[i], n, Code::index, batch));
    if (moved[source]) fail(Code::shape, "movedim was given dimension ", from[i], " twice");
    if (order[place] != -1) fail(Code::shape, "movedim was given place ", to[i], " twice");
    moved[source] = true;
    order[place] = static_cast<std::int64_t>(source);
  }
  std::size_t next = 0;
  ViewPlan plan(batch);
  for (const std::int64_t source : order) {
    while (source == -1 && moved[next]) ++next;
    plan.keep(source == -1 ? static_cast<std::int64_t>(next++) : source);
  }
  return TensorDict(apply_plan(td.node(), plan));
}

namespace {

NodePtr slice(const NodePtr& node, std::int64_t dim, std::int64_t start, std::int64_t length) {
  ViewPlan plan(node->batch());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(node->batch().size()); ++i) {
    if (i == dim) {
      plan.slice(i, start, length, 1);
    } else {
      plan.keep(i);
    }
  }
  return apply_plan(node, plan);
}

}  // namespace

TensorDict narrow(const TensorDict& td, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const SizesView batch = td.batch_size();
  dim = wrap_dim(dim, static_cast<std::int64_t>(batch.size()), Code::index, batch);
  const std::int64_t size = known_size(batch, static_cast<std::size_t>(dim));
  const std::int64_t first = start < 0 ? start + size : start;
  if (first < 0 || first > size || length < 0 || length > size - first) {
    fail(Code::index, "narrow: ", length, " positions from ", start,
         " on are out of range for dimension ", dim, " of batch size ", show_sizes(batch));
  }
  return TensorDict(slice(td.node(), dim, first, length));
}

TensorDict atleast(const TensorDict& td, std::size_t dims) {
  if (dims > 64) fail(Code::invalid_argument, "no dictionary has ", dims, " dimensions");
  const SizesView batch = td.batch_size();
  ViewPlan plan(batch);
  for (std::size_t i = batch.size(); i < dims; ++i) plan.add();
  for (std::size_t i = 0; i < batch.size(); ++i) plan.keep(static_cast<std::int64_t>(i));
  return TensorDict(apply_plan(td.node(), plan));
}

Sizes split_lengths(const TensorDict& td, std::int64_t dim, Split kind, SizesView numbers) {
  const auto size = static_cast<std::int64_t>(td.dim_size(dim));
  const bool one = kind != Split::lengths && kind != Split::positions;
  if (one && (numbers.size() != 1 || numbers[0] < 1)) {
    fail(Code::invalid_argument, "split needs one number of at least 1, found ",
         show_sizes(numbers));
  }
  Sizes lengths;
  switch (kind) {
    case Split::length:
    case Split::chunks: {
      const std::int64_t length =
          kind == Split::length ? numbers[0] : size / numbers[0] + (size % numbers[0] != 0 ? 1 : 0);
      std::int64_t left = size;
      do {
        lengths.push_back(std::min(length, left));
        left -= lengths.back();
      } while (left > 0);
      break;
    }
    case Split::parts:
      // Refuse absurd numbers of empty parts.
      if (numbers[0] > std::max<std::int64_t>(size, 1 << 16)) {
        fail(Code::invalid_argument, "split into ", numbers[0], " parts of a dimension of size ",
             size);
      }
      for (std::int64_t i = 0; i < numbers[0]; ++i) {
        lengths.push_back(size / numbers[0] + (i < size % numbers[0] ? 1 : 0));
      }
      break;
    case Split::lengths: {
      std::int64_t left = size;
      bool fits = !numbers.empty();
      for (const std::int64_t length : numbers) {
        fits = fits && length >= 0 && length <= left;
        if (fits) left -= length;
      }
      if (!fits || left != 0) {
        fail(Code::shape, "split: lengths ", show_sizes(numbers), " do not add up to dimension ",
             dim, " of batch size ", show_sizes(td.batch_size()));
      }
      lengths.assign(numbers.begin(), numbers.end());
      break;
    }
    case Split::positions: {
      std::int64_t from = 0;
      for (std::size_t i = 0; i <= numbers.size(); ++i) {
        std::int64_t to = i == numbers.size() ? size : numbers[i];
        if (to < 0) to += size;
        to = std::min(std::max(to, from), size);
        lengths.push_back(to - from);
        from = to;
      }
      break;
    }
  }
  return lengths;
}

std::vector<TensorDict> split(const TensorDict& td, std::int64_t dim, SizesView lengths) {
  dim = wrap_dim(dim, static_cast<std::int64_t>(td.batch_size().size()), Code::index,
                 td.batch_size());
  std::vector<TensorDict> parts;
  parts.reserve(lengths.size());
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    parts.emplace_back(slice(td.node(), dim, start, length));
    start += length;
  }
  return parts;
}

}  // namespace td
