// Operations that move the batch dimensions. Each says where the dimensions of its result come from;
// the walk and the view do the rest.
#include "td/batch_op.h"
#include "td/fast_path.h"
#include "td/inherit.h"
#include "td/tensordict.h"
#include "td/walk.h"

#include <ATen/ATen.h>
#include <ATen/TensorUtils.h>

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
  explicit ViewOp(const ViewPlan& plan) : plan_(plan), fast_(fast::thread_at_rest()) {}
  Sizes batch(SizesView before) const override { return plan_.sizes(before); }
  at::Tensor leaf(const at::Tensor& before) const override { return plan_.apply(before, fast_); }

 private:
  const ViewPlan& plan_;
  bool fast_;
};

NodePtr apply_plan(const NodePtr& node, const ViewPlan& plan, bool keep_memmap = true) {
  if (plan.is_identity()) return node;
  NodePtr result = map(node, ViewOp(plan));
  inherit_flags(*node, result, keep_memmap);
  return result;
}

// A dimension as a number from 0; `dims` of them exist.
std::int64_t wrap(std::int64_t dim, std::int64_t dims, Code code, SizesView batch) {
  if (dim < -dims || dim >= dims) {
    fail(code, "dimension ", dim, " is out of range for batch size ", show_sizes(batch), " of ",
         static_cast<std::int64_t>(batch.size()), batch.size() == 1 ? " dimension" : " dimensions");
  }
  return dim < 0 ? dim + dims : dim;
}

std::int64_t count(SizesView sizes) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(n, size, &n)) {
      fail(Code::shape, "batch size ", show_sizes(sizes), " has more elements than can be counted");
    }
  }
  return n;
}

// Works out the one -1 of a shape.
Sizes resolve_shape(SizesView sizes, SizesView batch) {
  Sizes result(sizes.begin(), sizes.end());
  const std::int64_t total = count(batch);
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  bool valid = true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && !open) {
      open = i;
    } else if (sizes[i] < 0 || __builtin_mul_overflow(known, sizes[i], &known)) {
      valid = false;
    }
  }
  if (valid && open) {
    valid = known != 0 && total % known == 0;
    if (valid) result[*open] = total / known;
  } else {
    valid = valid && known == total;
  }
  if (!valid)
    fail(Code::shape, "shape ", show_sizes(sizes), " is not possible for batch size ",
         show_sizes(batch));
  return result;
}

// Another shape over the same elements. `copy` allows new memory where no view is possible.
class ReshapeOp final : public BatchOp {
 public:
  ReshapeOp(SizesView before, SizesView after, bool copy)
      : before_(before), after_(after), copy_(copy), fast_(fast::thread_at_rest()) {}

  Sizes batch(SizesView before) const override {
    Sizes sizes(after_.begin(), after_.end());
    sizes.append(before.begin() + before_.size(), before.end());
    return sizes;
  }

  at::Tensor leaf(const at::Tensor& before) const override {
    if (fast_ && fast::plain(before) && before.is_contiguous()) return dense_view(before);
    const Sizes sizes = batch(before.sizes());
    if (!fast::plain(before)) return copy_ ? before.reshape(sizes) : before.view(sizes);
    if (!fast_) {
      if (copy_) return before.reshape(sizes);
      if (!at::detail::computeStride(before.sizes(), before.strides(), SizesView(sizes)))
        fail_view(before, sizes);
      return before.view(sizes);
    }
    const auto strides =
        at::detail::computeStride(before.sizes(), before.strides(), SizesView(sizes));
    if (strides) return fast::make_view(before, sizes, *strides, before.storage_offset());
    if (copy_) return before.reshape(sizes);
    fail_view(before, sizes);
  }

 private:
  // Leaves are often of one shape: sizes and strides of the last one are kept.
  at::Tensor dense_view(const at::Tensor& before) const {
    if (!known_ || before.sizes() != SizesView(before_sizes_)) {
      before_sizes_.assign(before.sizes().begin(), before.sizes().end());
      sizes_ = batch(before.sizes());
      strides_.resize_for_overwrite(sizes_.size());
      std::int64_t stride = 1;
      for (std::size_t i = sizes_.size(); i-- > 0;) {
        strides_[i] = stride;
        stride *= std::max<std::int64_t>(sizes_[i], 1);
      }
      known_ = true;
    }
    return fast::make_view(before, sizes_, strides_, before.storage_offset());
  }

  [[noreturn]] static void fail_view(const at::Tensor& before, SizesView sizes) {
    fail(Code::shape, "a tensor of shape ", show_sizes(before.sizes()), " and strides ",
         show_sizes(before.strides()), " cannot be viewed as ", show_sizes(sizes), "; use reshape");
  }

  SizesView before_, after_;
  bool copy_, fast_;
  mutable bool known_ = false;
  mutable Sizes before_sizes_, sizes_, strides_;
};

TensorDict change_shape(const TensorDict& td, SizesView sizes, bool copy) {
  const Sizes shape = resolve_shape(sizes, td.batch_size());
  if (SizesView(shape) == td.batch_size()) return td;
  NodePtr result = map(td.node(), ReshapeOp(td.batch_size(), shape, copy));
  inherit_flags(*td.node(), result, /*memmap=*/!copy);
  return TensorDict(std::move(result));
}

}  // namespace

TensorDict TensorDict::view(SizesView sizes) const { return change_shape(*this, sizes, false); }

TensorDict TensorDict::reshape(SizesView sizes) const { return change_shape(*this, sizes, true); }

TensorDict TensorDict::permute(SizesView order) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(order.size());
  if (order.size() > batch.size()) {
    fail(Code::shape, "permute was given ", n, " dimensions for batch size ", show_sizes(batch));
  }
  ViewPlan plan(batch);
  std::vector<bool> seen(order.size(), false);
  for (const std::int64_t asked : order) {
    const std::int64_t dim = wrap(asked, n, Code::shape, batch);
    if (seen[static_cast<std::size_t>(dim)])
      fail(Code::shape, "permute was given dimension ", asked, " twice");
    seen[static_cast<std::size_t>(dim)] = true;
    plan.keep(dim);
  }
  for (auto i = n; i < static_cast<std::int64_t>(batch.size()); ++i) plan.keep(i);
  return TensorDict(apply_plan(node_, plan));
}

TensorDict TensorDict::transpose(std::int64_t dim0, std::int64_t dim1) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  dim0 = wrap(dim0, n, Code::shape, batch);
  dim1 = wrap(dim1, n, Code::shape, batch);
  ViewPlan plan(batch);
  for (std::int64_t i = 0; i < n; ++i) plan.keep(i == dim0 ? dim1 : i == dim1 ? dim0 : i);
  return TensorDict(apply_plan(node_, plan));
}

TensorDict TensorDict::squeeze(std::int64_t dim) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  dim = wrap(dim, n, Code::index, batch);
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
  dim = wrap(dim, n + 1, Code::index, batch);
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
    fits = sizes[i] >= 0 && (i < added || batch[i - added] == sizes[i] || batch[i - added] == 1);
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

}  // namespace td
