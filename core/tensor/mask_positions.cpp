// Turns a mask of an index into the positions where it is true.
#include "core/tensor/fast_path.h"
#include "core/tensor/index.h"
#include "core/tensor/known_sizes.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

void IndexPlan::add_mask(const at::Tensor& tensor, std::int64_t& source, SizesView batch,
                         std::vector<Advanced>& advanced) {
  if (tensor.dim() == 0) {
    view_.add();
    advanced.push_back({static_cast<std::int64_t>(view_.out_dims()) - 1,
                        at::zeros({tensor.item().toBool() ? 1 : 0}, at::kLong), true});
    return;
  }
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) != known_size(batch, static_cast<std::size_t>(source + i))) {
      fail(Code::index, "a mask of shape ", show_sizes(tensor.sizes()), " does not fit dimension ",
           source, " of batch size ", show_sizes(batch));
    }
  }
  const auto rank = static_cast<std::size_t>(tensor.dim());
  // Read as bytes: foreign memory may hold any value, and as in libtorch all but 0 are true.
  const auto* truth = static_cast<const std::uint8_t*>(tensor.data_ptr());
  const std::int64_t n = tensor.numel();
  const std::int64_t count = n - std::count(truth, truth + n, 0);
  // The positions of a mask: one list for each of its dimensions.
  c10::SmallVector<std::int64_t*, 4> positions;
  for (std::size_t d = 0; d < rank; ++d) {
    advanced.push_back(
        {static_cast<std::int64_t>(view_.out_dims()), fast::make_dense({count}, at::kLong), true});
    positions.push_back(advanced.back().index.data_ptr<std::int64_t>());
    view_.keep(source++);
  }
  for (std::int64_t i = 0, k = 0; k < count; ++i) {
    if (truth[i] == 0) continue;
    std::int64_t left = i;
    for (std::size_t d = rank; d-- > 0;) {
      positions[d][k] = left % tensor.size(static_cast<std::int64_t>(d));
      left /= tensor.size(static_cast<std::int64_t>(d));
    }
    ++k;
  }
}

}  // namespace td
