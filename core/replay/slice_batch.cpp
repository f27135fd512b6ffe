#include "core/replay/slice_batch.h"

#include "core/tensor/dtype.h"
#include "core/tree/view_ops.h"

#include <ATen/ATen.h>

#include <numeric>
#include <optional>

namespace td {

namespace {

// A flag of each row, with the sizes of an entry of such flags.
at::Tensor spread(const at::Tensor& flags, SizesView sizes) {
  Sizes front(sizes.size(), 1);
  front[0] = flags.size(0);
  return flags.reshape(front).expand(sizes).contiguous();
}

std::optional<at::Tensor> flags_in(const TensorDict& batch, Path path) {
  std::optional<at::Tensor> result;
  try {
    result = batch.get(path);
  } catch (const Error& error) {
    if (error.code() != Code::key_not_found) throw;
    return std::nullopt;
  }
  if (result->scalar_type() != at::kBool) {
    fail(Code::dtype, show_path(path), " must be bool to mark slices, found ",
         dtype_name(result->scalar_type()));
  }
  return result;
}

}  // namespace

SliceLayout SliceLayout::filled(Drawn& drawn) {
  Drawn full;
  std::size_t first = 0;
  for (const std::int64_t length : drawn.lengths) {
    for (std::int64_t k = 0; k < drawn.slice; ++k) {
      const std::size_t row = first + static_cast<std::size_t>(std::min(k, length - 1));
      full.places.push_back(drawn.places[row]);
      if (!drawn.weights.empty()) full.weights.push_back(drawn.weights[row]);
    }
    first += static_cast<std::size_t>(length);
  }
  drawn.places = std::move(full.places);
  drawn.weights = std::move(full.weights);
  return {drawn.slice, drawn.lengths, drawn.slice};
}

std::int64_t SliceLayout::rows() const noexcept {
  if (step != 0) return step * static_cast<std::int64_t>(lengths.size());
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

void SliceLayout::mark(TensorDict& batch) const {
  const at::Tensor firsts = at::zeros({rows()}, at::kBool), lasts = at::zeros({rows()}, at::kBool);
  std::int64_t first = 0;
  for (const std::int64_t length : lengths) {
    firsts.data_ptr<bool>()[first] = true;
    lasts.data_ptr<bool>()[first + length - 1] = true;
    first += step != 0 ? step : length;
  }
  const std::string_view truncated[] = {"next", "truncated"}, done[] = {"next", "done"},
                         terminated[] = {"next", "terminated"}, is_init[] = {"is_init"};
  Sizes sizes(batch.batch_size().begin(), batch.batch_size().end());
  sizes.push_back(1);
  const auto sizes_of = [&](const std::optional<at::Tensor>& flags) {
    return flags ? Sizes(flags->sizes().begin(), flags->sizes().end()) : sizes;
  };
  const std::optional<at::Tensor> was_truncated = flags_in(batch, truncated);
  const std::optional<at::Tensor> was_done = flags_in(batch, done);
  const std::optional<at::Tensor> was_terminated = flags_in(batch, terminated);
  const std::optional<at::Tensor> was_init = flags_in(batch, is_init);
  const at::Tensor ends = spread(lasts, sizes_of(was_done));
  batch.set(truncated, spread(lasts, sizes_of(was_truncated)));
  batch.set(done, was_done ? ends.logical_or(*was_done) : ends);
  if (!was_terminated) batch.set(terminated, at::zeros(sizes, at::kBool));
  if (was_init) batch.set(is_init, spread(firsts, was_init->sizes()).logical_or(*was_init));
}

TensorDict SliceLayout::by_slice(TensorDict batch) const {
  const at::Tensor real = at::ones({rows()}, at::kBool);
  const auto n = static_cast<std::int64_t>(lengths.size());
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t length = lengths[static_cast<std::size_t>(k)];
    std::fill_n(real.data_ptr<bool>() + k * slice + length, slice - length, false);
  }
  const std::string_view mask[] = {"collector", "mask"};
  batch.set(mask, spread(real, batch.batch_size()));
  const std::int64_t sizes[] = {n, slice};
  return unflatten(batch, 0, sizes);
}

}  // namespace td
