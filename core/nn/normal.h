// core/nn/normal.h: the normal distribution and distributions derived from it.
#pragma once

#include "core/nn/distribution.h"

namespace td {

std::unique_ptr<const Distribution> make_normal(const DistributionShape& shape,
                                                const at::Tensor& loc, const at::Tensor& scale);

}  // namespace td
