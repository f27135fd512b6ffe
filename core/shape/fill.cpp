#include "core/shape/fill.h"

#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/scalar.h"
#include "core/tree/batch_op.h"
#include "core/tree/inherit.h"
#include "core/tree/nested_tensor.h"

#include <ATen/ATen.h>

#include <cstring>

namespace td {

namespace {

class FillOp final : public BatchOp {
 public:
  FillOp(std::size_t dims, SizesView batch, bool same, const FillOptions& options)
      : dims_(dims),
        batch_(batch),
        same_(same),
        options_(options),
        fast_(fast::can_skip_dispatcher()) {
    if (options.device) device_ = resolve_device(*options.device);
  }

  Sizes batch(SizesView before) const override {
    // Elements of lazy stacks have one dimension less than the root.
    if (same_) return Sizes(before.begin(), before.end());
    Sizes sizes(batch_.begin(), batch_.end());
    sizes.append(before.begin() + dims_, before.end());
    return sizes;
  }
  std::optional<c10::Device> device(const std::optional<c10::Device>& before) const override {
    return device_ ? device_ : before;
  }
  // A lazy stack stays lazy, since its tensors may differ in shape.
  bool keeps_batch() const override { return same_; }
  Value nested_tensor(const NestedTensorNode& node) const override {
    if (!same_) return BatchOp::nested_tensor(node);
    return each_value(node, *this, [&](const at::Tensor& values) { return leaf(values); });
  }

  at::Tensor leaf(const at::Tensor& before) const override {
    const Sizes sizes = batch(before.sizes());
    const c10::ScalarType dtype = options_.dtype.value_or(before.scalar_type());
    const bool known = options_.kind == Filling::zeros || options_.kind == Filling::empty;
    if (fast_ && known && fast::plain_cpu(before) &&
        (!device_ || device_->type() == c10::DeviceType::CPU)) {
      at::Tensor result = fast::make_dense(sizes, dtype);
      if (options_.kind == Filling::zeros && result.numel() != 0)
        std::memset(result.data_ptr(), 0, result.nbytes());
      return result;
    }
    at::TensorOptions made = before.options().requires_grad(false).dtype(dtype);
    if (device_) made = made.device(*device_);
    switch (options_.kind) {
      case Filling::empty: return at::empty(sizes, made);
      case Filling::zeros: return at::zeros(sizes, made);
      case Filling::ones: return at::ones(sizes, made);
      case Filling::full:
        require_fits(options_.value, dtype, "full");
        return at::full(sizes, options_.value, made);
      case Filling::rand: return at::rand(sizes, made);
      default: return at::randn(sizes, made);
    }
  }

 private:
  std::size_t dims_;
  SizesView batch_;
  bool same_;
  const FillOptions& options_;
  std::optional<c10::Device> device_;
  bool fast_;
};

}  // namespace

TensorDict filled_like(const TensorDict& td, const FillOptions& options) {
  const SizesView batch = td.batch_size();
  NodePtr result = map(td.node(), FillOp(batch.size(), batch, /*same=*/true, options));
  inherit_flags(*td.node(), result, /*memmap=*/false);
  return TensorDict(std::move(result));
}

TensorDict filled_new(const TensorDict& td, SizesView batch, const FillOptions& options) {
  for (const std::int64_t size : batch) {
    if (size < 0) fail(Code::shape, "batch size ", show_sizes(batch), " has a negative size");
  }
  return TensorDict(map(td.node(), FillOp(td.batch_size().size(), batch, /*same=*/false, options)));
}

}  // namespace td
