// core/nn/transformed.h: a distribution behind transforms, as torch.distributions.TransformedDistribution.
#pragma once

#include "core/nn/distribution.h"

namespace td {

// Whether such a distribution can stand in front of transforms.
bool can_be_transformed(DistributionKind kind) noexcept;

const char* value_source_name(ValueSource source) noexcept;
std::optional<ValueSource> value_source_of_name(const std::string& name) noexcept;

// `loc` and `scale`: of the base, if it is a normal distribution.
std::unique_ptr<const Distribution> make_transformed(const DistributionShape& shape,
                                                     std::unique_ptr<const Distribution> base,
                                                     const at::Tensor& loc,
                                                     const at::Tensor& scale);

// The exponential of a normal value, of each element.
std::unique_ptr<const Distribution> make_log_normal(const at::Tensor& loc, const at::Tensor& scale);

}  // namespace td
