// Changes the sizes over the same elements.
#include "core/tree/view_ops.h"

#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/strides.h"
#include "core/tree/batch_op.h"
#include "core/tree/inherit.h"
#include "core/tree/nested_tensor.h"

#include <ATen/ATen.h>
#include <ATen/TensorUtils.h>

namespace td {

namespace {

// Replaces the -1 in a shape.
Sizes resolve_shape(SizesView sizes, SizesView batch) {
  Sizes result(sizes.begin(), sizes.end());
  const std::int64_t total = count_elements(known_sizes(batch));
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

// The sizes with others in place of the dimensions from `start` to `end`.
Sizes with_middle(SizesView before, std::size_t start, std::size_t end, SizesView middle) {
  Sizes sizes(before.begin(), before.begin() + start);
  sizes.append(middle.begin(), middle.end());
  sizes.append(before.begin() + end, before.end());
  return sizes;
}

// A view of a contiguous leaf in another shape, made when it is first read.
class ReshapedView final : public LeafView {
 public:
  ReshapedView(std::size_t start, std::size_t end, SizesView middle)
      : start_(start), end_(end), middle_(middle.begin(), middle.end()) {}

  at::Tensor of(const at::Tensor& leaf, std::int64_t) const override {
    if (!leaf.is_contiguous() || !fast::plain(leaf) || leaf.sizes().size() < end_)
      fail_changed(leaf, middle_);
    const Sizes sizes = with_middle(leaf.sizes(), start_, end_, middle_);
    if (count_elements(sizes) != leaf.numel()) fail_changed(leaf, middle_);
    return fast::make_view(leaf, sizes, dense_strides(sizes), leaf.storage_offset());
  }
  bool fits(const LeafRow& row) const noexcept override {
    return row.all_plain() && row.all_contiguous();
  }
  bool keeps_contiguous() const noexcept override { return true; }
  LeafViewPtr after(const LeafView&, std::int64_t, std::int64_t) const override { return {}; }

 private:
  std::size_t start_, end_;
  Sizes middle_;
};

// Reshapes the batch. `copy` allows a copy if no view is possible.
class ReshapeOp final : public BatchOp {
 public:
  // Replaces the dimensions from `start` to `end` by `sizes`.
  ReshapeOp(std::size_t start, std::size_t end, SizesView sizes, bool copy)
      : start_(start), end_(end), middle_(sizes), copy_(copy), fast_(fast::can_skip_dispatcher()) {}

  Sizes batch(SizesView before) const override {
    return with_middle(before, start_, end_, middle_);
  }
  LeafViewPtr later() const override {
    return fast_ ? LeafViewPtr(c10::make_intrusive<ReshapedView>(start_, end_, middle_))
                 : LeafViewPtr();
  }

  // Changed dimensions lose their names.
  void tags(const Node& before, Node& after) const override {
    after.set_tensorclass(before.tensorclass());
    const Names& full = before.names();
    if (full.empty()) return;
    Names names(full.begin(), full.begin() + static_cast<std::ptrdiff_t>(start_));
    names.resize(start_ + middle_.size());
    names.insert(names.end(), full.begin() + static_cast<std::ptrdiff_t>(end_), full.end());
    after.set_names(std::move(names));
  }

  Value nested_tensor(const NestedTensorNode& node) const override {
    return rearranged(node, *this);
  }

  // If the dimension of a lazy stack is not among those that change, each element is reshaped; otherwise the
  // stack is rebuilt.
  NodePtr lazy(const LazyNode& node) const override {
    if (node.holds_non_tensor()) return BatchOp::lazy(node);
    const SizesView batch = node.batch();
    std::size_t start = start_, end = end_;
    SizesView middle = middle_;
    while (start < end && !middle.empty() && batch[start] == middle[0] && middle[0] > 0) {
      middle = middle.slice(1);
      ++start;
    }
    while (start < end && !middle.empty() && batch[end - 1] == middle.back() && middle.back() > 0) {
      middle = middle.slice(0, middle.size() - 1);
      --end;
    }
    const auto along = static_cast<std::size_t>(node.stack_dim());
    if (along >= start && along < end) {
      if (copy_) return BatchOp::lazy(node);
      return stacked_anew(node, start, end, middle);
    }
    const std::size_t shift = along < start ? 1 : 0;
    const ReshapeOp inner(start - shift, end - shift, middle, copy_);
    auto result = lazy_stack(
        node.each([&](const NodePtr& element) { return element->transform(inner); }),
        static_cast<std::int64_t>(shift != 0 ? along : along + middle.size() - (end - start)));
    if (node.tagged()) tags(node, *result);
    return result;
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
  // Unbinds all dimensions from `start` to `end`, and stacks the parts in the new ones.
  NodePtr stacked_anew(const LazyNode& node, std::size_t start, std::size_t end,
                       SizesView middle) const {
    const auto dim = static_cast<std::int64_t>(start);
    std::vector<NodePtr> parts{retain(node)};
    for (std::size_t i = start; i < end; ++i) {
      std::vector<NodePtr> finer;
      for (const NodePtr& part : parts) {
        for (const TensorDict& one : TensorDict(part).unbind(dim)) finer.push_back(one.node());
      }
      parts = std::move(finer);
    }
    if (parts.empty()) {
      fail(Code::shape, "a lazy stack of batch size ", show_sizes(node.batch()),
           " has no elements, so it cannot be viewed in another shape; use reshape");
    }
    for (std::size_t i = middle.size(); i-- > 0;) {
      const auto n = static_cast<std::ptrdiff_t>(middle[i]);
      std::vector<NodePtr> stacks;
      for (auto at = parts.begin(); at != parts.end(); at += n) {
        stacks.push_back(lazy_stack({at, at + n}, dim));
      }
      parts = std::move(stacks);
    }
    if (node.tagged()) tags(node, *parts[0]);
    return parts[0];
  }

  // Leaves often share a shape: reuse the last sizes and strides.
  at::Tensor dense_view(const at::Tensor& before) const {
    if (!known_ || before.sizes() != SizesView(before_sizes_)) {
      before_sizes_.assign(before.sizes().begin(), before.sizes().end());
      sizes_ = batch(before.sizes());
      strides_ = dense_strides(sizes_);
      known_ = true;
    }
    return fast::make_view(before, sizes_, strides_, before.storage_offset());
  }

  [[noreturn]] static void fail_view(const at::Tensor& before, SizesView sizes) {
    fail(Code::shape, "a tensor of shape ", show_sizes(before.sizes()), " and strides ",
         show_sizes(before.strides()), " cannot be viewed as ", show_sizes(sizes), "; use reshape");
  }

  std::size_t start_, end_;
  SizesView middle_;
  bool copy_, fast_;
  mutable bool known_ = false;
  mutable Sizes before_sizes_, sizes_, strides_;
};

TensorDict run(const TensorDict& td, const ReshapeOp& op, bool keep_memmap) {
  NodePtr result = map(td.node(), op);
  inherit_flags(*td.node(), result, keep_memmap);
  return TensorDict(std::move(result));
}

TensorDict change_shape(const TensorDict& td, SizesView sizes, bool copy) {
  const Sizes shape = resolve_shape(sizes, td.batch_size());
  if (SizesView(shape) == td.batch_size()) return td;
  return run(td, ReshapeOp(0, td.batch_size().size(), shape, copy), /*keep_memmap=*/!copy);
}

}  // namespace

TensorDict TensorDict::view(SizesView sizes) const { return change_shape(*this, sizes, false); }

TensorDict TensorDict::reshape(SizesView sizes) const { return change_shape(*this, sizes, true); }

TensorDict flatten(const TensorDict& td, std::int64_t start, std::int64_t end) {
  const SizesView batch = td.batch_size();
  const auto n = std::max<std::int64_t>(static_cast<std::int64_t>(batch.size()), 1);
  start = wrap_dim(start, n, Code::index, batch);
  end = wrap_dim(end, n, Code::index, batch);
  if (end < start) {
    fail(Code::invalid_argument, "flatten from dimension ", start, " to ", end,
         ": the end is before the start");
  }
  if (batch.empty()) return td.unsqueeze(0);
  if (start == end) return td;
  const auto first = static_cast<std::size_t>(start);
  const auto past = static_cast<std::size_t>(end) + 1;
  for (std::size_t i = first; i < past; ++i) known_size(batch, i);
  const Sizes merged{count_elements(batch.slice(first, past - first))};
  return run(td, ReshapeOp(first, past, merged, /*copy=*/true), /*keep_memmap=*/false);
}

TensorDict unflatten(const TensorDict& td, std::int64_t dim, SizesView sizes) {
  const SizesView batch = td.batch_size();
  dim = wrap_dim(dim, static_cast<std::int64_t>(batch.size()), Code::index, batch);
  if (sizes.empty()) fail(Code::shape, "unflatten needs at least one size");
  const auto at = static_cast<std::size_t>(dim);
  known_size(batch, at);
  const Sizes parts = resolve_shape(sizes, batch.slice(at, 1));
  if (parts.size() == 1) return td;
  return run(td, ReshapeOp(at, at + 1, parts, /*copy=*/false), /*keep_memmap=*/true);
}

}  // namespace td
