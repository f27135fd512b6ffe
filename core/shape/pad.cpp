#include "core/shape/pad.h"

#include "core/tensor/known_sizes.h"
#include "core/tensor/scalar.h"
#include "core/tree/view_ops.h"

#include "core/tree/batch_op.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>

namespace td {

namespace {

class PadOp final : public BatchOp {
 public:
  PadOp(SizesView widths, double value) : widths_(widths), value_(value) {}

  Sizes batch(SizesView before) const override {
    Sizes sizes(before.begin(), before.end());
    for (std::size_t i = 0; i < widths_.size(); ++i) sizes[i / 2] += widths_[i];
    return sizes;
  }
  at::Tensor leaf(const at::Tensor& before) const override { return padded(before, value_); }

  // libtorch takes pairs from the last dimension on.
  at::Tensor padded(const at::Tensor& before, double value) const {
    std::vector<std::int64_t> reversed(2 * static_cast<std::size_t>(before.dim()), 0);
    for (std::size_t i = 0; i < widths_.size(); i += 2) {
      reversed[reversed.size() - i - 2] = widths_[i];
      reversed[reversed.size() - i - 1] = widths_[i + 1];
    }
    return padded_by(before, reversed, value, "pad");
  }

  NodePtr lazy(const LazyNode& node) const override {
    if (node.holds_non_tensor()) return data(node);
    NodePtr result = BatchOp::lazy(node);
    // As in Python, the name of the stack's dimension alone is not kept.
    const bool named = std::any_of(stacked(node).begin(), stacked(node).end(),
                                   [](const NodePtr& one) { return !one->names().empty(); });
    if (!named) result->set_names({});
    return result;
  }

  // Padding turns a value for the whole batch into a value for each element.
  NodePtr one_value(const NonTensorNode& node) const override {
    return adds() ? data(node) : BatchOp::one_value(node);
  }

  // A value for each position; null for new ones.
  NodePtr data(const Node& node) const {
    std::vector<const NonTensorNode*> values = non_tensor_values(node);
    const auto null = c10::make_intrusive<NonTensorNode>(Plain(), SizesView{}, node.device());
    const auto n = static_cast<std::int64_t>(values.size());
    values.push_back(null.get());
    const at::Tensor positions = at::arange(n, at::kLong).view(node.batch());
    return make_non_tensor(values, padded(positions, static_cast<double>(n)), node.device());
  }

  bool adds() const {
    return std::any_of(widths_.begin(), widths_.end(), [](std::int64_t n) { return n > 0; });
  }

 private:
  SizesView widths_;
  double value_;
};

}  // namespace

TensorDict pad(const TensorDict& td, SizesView widths, double value) {
  const SizesView batch = td.batch_size();
  if (widths.size() % 2 != 0 || widths.size() > 2 * batch.size()) {
    fail(Code::shape, "pad needs a pair of numbers for each dimension of batch size ",
         show_sizes(batch), ", found ", show_sizes(widths));
  }
  for (std::size_t i = 0; i < widths.size(); i += 2) {
    // Crop first: a sum could hide that one side removes more than there is.
    if (widths[i] == 0 && widths[i + 1] == 0) continue;
    std::int64_t size = known_size(batch, i / 2);
    bool fits = true;
    for (const std::int64_t width : widths.slice(i, 2)) {
      fits = fits && !__builtin_add_overflow(size, std::min<std::int64_t>(width, 0), &size);
    }
    fits = fits && size >= 0;
    for (const std::int64_t width : widths.slice(i, 2)) {
      fits = fits && !__builtin_add_overflow(size, std::max<std::int64_t>(width, 0), &size);
    }
    if (!fits) {
      fail(Code::shape, "pad by ", widths[i], " and ", widths[i + 1],
           " is not possible for dimension ", i / 2, " of batch size ", show_sizes(batch));
    }
  }
  const PadOp op(widths, value);
  return TensorDict(map(td.node(), op));
}

}  // namespace td
