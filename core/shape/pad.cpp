#include "core/shape/pad.h"

#include "core/shape/shape_ops.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/scalar.h"

#include "core/tree/batch_op.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/zip.h"

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

  // libtorch counts pairs from the last dimension on.
  at::Tensor padded(const at::Tensor& before, double value) const {
    std::vector<std::int64_t> reversed(2 * static_cast<std::size_t>(before.dim()), 0);
    for (std::size_t i = 0; i < widths_.size(); i += 2) {
      reversed[reversed.size() - i - 2] = widths_[i];
      reversed[reversed.size() - i - 1] = widths_[i + 1];
    }
    return padded_by(before, reversed, value, "pad");
  }

  void tags(const Node& before, Node& after) const override {
    after.set_tensorclass(before.tensorclass());
  }

  NodePtr lazy(const LazyNode& node) const override {
    return node.holds_non_tensor() ? data(node) : BatchOp::lazy(node);
  }

  // Padding makes one value for the whole batch a value for each element.
  NodePtr one_value(const NonTensorNode& node) const override {
    return adds() ? data(node) : BatchOp::one_value(node);
  }

  // A value for each position, null where there was none.
  NodePtr data(const Node& node) const {
    std::vector<const NonTensorNode*> values = non_tensor_values(node);
    const auto null = c10::make_intrusive<NonTensorNode>("null", SizesView{}, node.device());
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
    // Cut first: a sum of both could hide that one side takes more than there is.
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

namespace {

// One entry of several dictionaries, padded and stacked.
class Sequence {
 public:
  Sequence(Path path, Tensors tensors, std::int64_t dim) : tensors_(tensors) {
    const at::Tensor& first = *tensors[0];
    dim_ = dim < 0 ? dim + first.dim() : dim;
    if (dim_ < 0 || dim_ >= first.dim()) {
      fail(Code::shape, "pad_sequence: ", show_path(path), " of shape ", show_sizes(first.sizes()),
           " has no dimension ", dim);
    }
    for (const at::Tensor* tensor : tensors) {
      bool fits = tensor->dim() == first.dim() && tensor->dtype() == first.dtype() &&
                  tensor->device() == first.device();
      for (std::int64_t i = 0; fits && i < first.dim(); ++i) {
        fits = i == dim_ || tensor->size(i) == first.size(i);
      }
      if (!fits) {
        fail(Code::shape, "pad_sequence: ", show_path(path), " has shapes ",
             show_sizes(first.sizes()), " and ", show_sizes(tensor->sizes()),
             ", or other dtypes or devices, which cannot be stacked");
      }
      longest_ = std::max(longest_, tensor->size(dim_));
    }
  }

  at::Tensor stacked(double value) const {
    std::vector<at::Tensor> padded;
    for (const at::Tensor* tensor : tensors_) padded.push_back(fill_up(*tensor, value));
    return at::stack(padded);
  }

  // True where a tensor had a value. Beyond the batch and the padded dimension all is alike.
  at::Tensor mask(std::size_t batch_dims) const {
    std::vector<at::Tensor> padded;
    const auto dims = std::max(batch_dims, static_cast<std::size_t>(dim_) + 1);
    for (const at::Tensor* tensor : tensors_) {
      const SizesView sizes = tensor->sizes().slice(0, std::min(dims, tensor->sizes().size()));
      padded.push_back(fill_up(at::ones(sizes, tensor->options().dtype(at::kBool)), 0));
    }
    return at::stack(padded);
  }

  std::int64_t dim() const { return dim_; }
  std::int64_t longest() const { return longest_; }

 private:
  at::Tensor fill_up(const at::Tensor& tensor, double value) const {
    std::vector<std::int64_t> widths(2 * static_cast<std::size_t>(tensor.dim() - dim_), 0);
    widths.back() = longest_ - tensor.size(dim_);
    return padded_by(tensor, widths, value, "pad_sequence");
  }

  Tensors tensors_;
  std::int64_t dim_;
  std::int64_t longest_ = 0;
};

}  // namespace

TensorDict pad_sequence(c10::ArrayRef<TensorDict> sources, const PadSequenceOptions& options) {
  if (sources.empty()) fail(Code::invalid_argument, "pad_sequence needs at least one dictionary");
  const SizesView first = sources[0].batch_size();
  const auto dims = static_cast<std::int64_t>(first.size());
  // Where the padded dimension belongs to the batch, the batch grows with it.
  const std::int64_t open = options.dim >= 0 && options.dim < dims ? options.dim : -1;
  Sizes batch{static_cast<std::int64_t>(sources.size())};
  batch.append(first.begin(), first.end());
  std::vector<NodePtr> roots;
  std::optional<c10::Device> device = sources[0].device();
  for (const TensorDict& source : sources) {
    const SizesView sizes = known_sizes(source.batch_size());
    bool fits = sizes.size() == first.size();
    for (std::int64_t i = 0; fits && i < dims; ++i) fits = i == open || sizes[i] == first[i];
    if (!fits) {
      fail(Code::shape, "pad_sequence: batch sizes ", show_sizes(first), " and ", show_sizes(sizes),
           " differ beside dimension ", options.dim);
    }
    if (open >= 0) batch[open + 1] = std::max(batch[open + 1], sizes[open]);
    if (source.device() != device) device = std::nullopt;
    roots.push_back(source.node());
  }
  TensorDict result(batch, device);
  WalkRules policy;
  policy.missing = WalkRules::Missing::intersect;
  policy.what = "pad_sequence";
  policy.each_path = true;
  visit_zip<Take::elements>(
      roots,
      [&](const Here& here, Tensors tensors) {
        const Sequence sequence(here.path(), tensors, options.dim);
        result.set(here.path(), sequence.stacked(options.value));
        if (options.masks.empty()) return;
        PathBuffer path(options.masks.begin(), options.masks.end());
        path.append(here.path().begin(), here.path().end());
        result.set(path, sequence.mask(first.size()));
      },
      policy);
  return result;
}

}  // namespace td
