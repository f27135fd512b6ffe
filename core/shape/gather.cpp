// Selects by positions that an index holds, or by values that repeat.
#include "core/base/recursion_guard.h"
#include "core/shape/select_rows.h"
#include "core/tensor/dtype.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/batch_op.h"
#include "core/tree/inherit.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/view_ops.h"

#include <ATen/ATen.h>

namespace td {

namespace {

std::int64_t batch_dims(const TensorDict& td) {
  return static_cast<std::int64_t>(td.batch_size().size());
}

}  // namespace

namespace {

class GatherOp final : public BatchOp {
 public:
  GatherOp(std::int64_t dim, at::Tensor index) : dim_(dim), index_(std::move(index)) {}

  Sizes batch(SizesView before) const override {
    Sizes sizes(index_.sizes().begin(), index_.sizes().end());
    sizes.append(before.begin() + index_.dim(), before.end());
    return sizes;
  }
  at::Tensor leaf(const at::Tensor& before) const override {
    const Sizes sizes = batch(before.sizes());
    Sizes wide(index_.sizes().begin(), index_.sizes().end());
    wide.resize(sizes.size(), 1);
    return before.gather(dim_, index_.to(before.device()).view(wide).expand(sizes));
  }
  Value nested_tensor(const NestedTensorNode& node) const override {
    return rearranged(node, *this);
  }

 private:
  std::int64_t dim_;
  at::Tensor index_;
};

}  // namespace

TensorDict gather(const TensorDict& td, std::int64_t dim, const at::Tensor& index) {
  const SizesView batch = td.batch_size();
  dim = wrap_dim(dim, batch_dims(td), Code::index, td.batch_size());
  if (!c10::isIntegralType(index.scalar_type(), /*includeBool=*/false)) {
    fail(Code::dtype, "gather needs an index of integers, found ", dtype_name(index.scalar_type()));
  }
  if (index.numel() == 0) fail(Code::shape, "gather: an index without elements picks nothing");
  bool fits = index.dim() > dim && index.dim() <= batch_dims(td);
  for (std::int64_t i = 0; fits && i < index.dim(); ++i) {
    fits = i == dim || index.size(i) <= known_size(batch, static_cast<std::size_t>(i));
  }
  if (!fits) {
    fail(Code::shape, "gather: an index of shape ", show_sizes(index.sizes()),
         " exceeds batch size ", show_sizes(batch), " in a dimension other than ", dim);
  }
  // Copy: another thread may write into the caller's tensor after the check.
  const at::Tensor positions =
      index.to(at::kLong, /*non_blocking=*/false, /*copy=*/true).contiguous();
  if (!positions.is_meta()) {
    const std::int64_t size = known_size(batch, static_cast<std::size_t>(dim));
    const auto lowest = positions.min().item<std::int64_t>();
    const auto highest = positions.max().item<std::int64_t>();
    if (lowest < 0 || highest >= size) {
      fail(Code::index, "gather: index ", lowest < 0 ? lowest : highest,
           " is out of range for dimension ", dim, " of batch size ", show_sizes(batch));
    }
  }
  const GatherOp op(dim, positions);
  NodePtr result = map(td.node(), op);
  if (index.dim() < batch_dims(td)) {
    result->set_names({});
    result->set_batch(index.sizes());
  }
  return TensorDict(std::move(result));
}

namespace {

// The entry to compare, with the dimension in front.
at::Tensor telling(const TensorDict& td, Path path, std::int64_t dim) {
  at::Tensor entry = td.get(path);
  if (entry.dim() <= dim) fail(Code::index, show_path(path), " has no dimension ", dim);
  return entry;
}

}  // namespace

at::Tensor is_in(const TensorDict& td, const TensorDict& reference, Path path, std::int64_t dim) {
  if (batch_dims(td) != batch_dims(reference)) {
    fail(Code::shape, "isin needs batch sizes of the same number of dimensions: found ",
         show_sizes(td.batch_size()), " and ", show_sizes(reference.batch_size()));
  }
  dim = wrap_dim(dim, batch_dims(td), Code::index, td.batch_size());
  const at::Tensor asked = telling(td, path, dim).detach();
  const at::Tensor known = telling(reference, path, dim).detach();
  for (std::int64_t i = 0; i < std::max(asked.dim(), known.dim()); ++i) {
    if (asked.dim() != known.dim() || (i != dim && asked.size(i) != known.size(i))) {
      fail(Code::shape, "isin: ", show_path(path), " has shapes ", show_sizes(asked.sizes()),
           " and ", show_sizes(known.sizes()), ", which differ beside dimension ", dim);
    }
  }
  const at::Tensor number = std::get<1>(
      at::unique_dim(at::cat({known, asked}, dim), dim, /*sorted=*/true, /*return_inverse=*/true));
  const std::int64_t n = known.size(dim);
  return at::isin(number.slice(0, n), number.slice(0, 0, n));
}

TensorDict remove_duplicates(const TensorDict& td, Path path, std::int64_t dim,
                             at::Tensor* positions) {
  dim = wrap_dim(dim, batch_dims(td), Code::index, td.batch_size());
  // Copy: libtorch sorts the entry, and its values must not change meanwhile.
  const at::Tensor entry = telling(td, path, dim).detach().clone();
  at::Tensor first = at::arange(0, at::kLong);
  if (entry.size(dim) != 0) {
    const auto [values, number, counts] =
        at::unique_dim(entry, dim, /*sorted=*/true, /*return_inverse=*/true, /*counts=*/true);
    // Positions sorted by value; keep the first of each run.
    const at::Tensor sorted =
        std::get<1>(number.sort(compat::optional<bool>(true), 0, /*descending=*/false));
    first = sorted.index({counts.cumsum(0) - counts}).cpu();
  }
  std::vector<IndexItem> items(static_cast<std::size_t>(dim), IndexItem::range({}, {}));
  items.push_back(IndexItem::of(first));
  TensorDict result = td.index(items);
  if (positions != nullptr) *positions = std::move(first);
  return result;
}

}  // namespace td
