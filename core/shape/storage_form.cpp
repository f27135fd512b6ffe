// The memory layout of leaves, and a dictionary that takes over another's content.
#include "core/base/recursion_guard.h"
#include "core/shape/shape.h"
#include "core/tensor/assign.h"
#include "core/tensor/dtype.h"
#include "core/tensor/strides.h"
#include "core/tree/inherit.h"
#include "core/tree/leaf_op.h"
#include "core/tree/paths.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

bool is_contiguous(const TensorDict& td) {
  bool all = true;
  visit_values(*td.node(), [&](const Value& value) {
    all = all && (value.is_node() || value.tensor().is_contiguous());
  });
  return all;
}

namespace {

// is_contiguous() ignores strides of dimensions of size 1, but readers of strides see them.
bool is_canonical(const at::Tensor& tensor) {
  return tensor.strides() == SizesView(dense_strides(tensor.sizes()));
}

at::Tensor canonical_form(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.contiguous();
  if (is_canonical(dense)) return dense;
  return dense.as_strided(dense.sizes(), dense_strides(dense.sizes()));
}

}  // namespace

TensorDict contiguous(const TensorDict& td, bool canonical) {
  if (!canonical) return td.contiguous();
  return TensorDict(map(td.node(), LeafOp(canonical_form)));
}

namespace {

class ViewAsOp final : public BatchOp {
 public:
  ViewAsOp(c10::ScalarType dtype, SizesView before, SizesView after)
      : dtype_(dtype), before_(before), after_(after) {}

  Sizes batch(SizesView before) const override {
    Sizes sizes(after_.begin(), after_.end());
    // Keep dimensions after the batch only if the tensor had them.
    if (same()) sizes.append(before.begin() + before_.size(), before.end());
    return sizes;
  }
  // If the batch stays, views each element of a lazy stack; non-tensor values stay.
  NodePtr lazy(const LazyNode& node) const override {
    if (!same() && node.holds_non_tensor()) {
      fail(Code::unsupported, "non-tensor values, one for each element of batch size ",
           show_sizes(node.batch()), ", cannot follow a view of batch size ", show_sizes(after_));
    }
    if (!same()) return BatchOp::lazy(node);
    const RecursionGuard guard;
    const bool inside = node.stack_dim() < static_cast<std::int64_t>(before_.size());
    return node.with_elements(node.each([&](const NodePtr& element) {
      const SizesView own = element->batch().slice(0, before_.size() - (inside ? 1 : 0));
      return element->transform(ViewAsOp(dtype_, own, own));
    }));
  }
  at::Tensor leaf(const at::Tensor& before) const override {
    const Sizes sizes = viewed(before);
    if (!begins_with(sizes, after_)) {
      fail(Code::shape, "a tensor of shape ", show_sizes(before.sizes()), " viewed as ",
           dtype_name(dtype_), " has shape ", show_sizes(sizes),
           ", which does not begin with the batch size ", show_sizes(after_));
    }
    // Without elements, strides may be anything, and libtorch asks for those of a dense tensor.
    return (before.numel() == 0 ? canonical_form(before) : before).view(dtype_);
  }

 private:
  // The sizes as that dtype; unchanged if libtorch refuses.
  Sizes viewed(const at::Tensor& before) const {
    Sizes sizes(before.sizes().begin(), before.sizes().end());
    const auto from = static_cast<std::int64_t>(before.element_size());
    const auto to = static_cast<std::int64_t>(c10::elementSize(dtype_));
    if (!sizes.empty() && sizes.back() * from % to == 0) sizes.back() = sizes.back() * from / to;
    return sizes;
  }

  bool same() const noexcept { return after_ == before_; }

  c10::ScalarType dtype_;
  SizesView before_, after_;
};

}  // namespace

TensorDict view_as(const TensorDict& td, c10::ScalarType dtype, std::optional<SizesView> batch) {
  NodePtr result =
      map(td.node(), ViewAsOp(dtype, td.batch_size(), batch.value_or(td.batch_size())));
  inherit_flags(*td.node(), result);
  return TensorDict(std::move(result));
}

void become(const TensorDict& td, const TensorDict& source) {
  if (td.is_same(source)) return;
  const char* const refused =
      "a lazy stack or a sub-tensordict has no entries of its own to replace";
  require_entries(*td.node(), refused);
  require_entries(*source.node(), refused);
  const DenseNode& target = entries_of(td.node());
  require_unlocked(target);
  if (reaches(source.node(), {&target}))
    fail(Code::cycle, "a dictionary cannot take over a dictionary that contains it");
  Changes changes;
  const Node& from = *source.node();
  changes.replace(target, entries_of(source.node()));
  changes.set_batch(target, from.batch());
  changes.set_device(target, from.device());
  changes.set_names(target, from.names());
  changes.set_memmapped(target, from.memmapped());
  changes.set_shared(target, from.shared());
  changes.run();
}

}  // namespace td
