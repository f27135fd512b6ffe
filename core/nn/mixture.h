// core/nn/mixture.h: one of several distributions of a family, as torch.distributions.MixtureSameFamily.
#pragma once

#include "core/nn/classes.h"

namespace td {

// `components` have one more dimension than the mixture, in front of an event of `event_dims` dimensions.
std::unique_ptr<const Distribution> make_mixture(Classes weights,
                                                 std::unique_ptr<const Distribution> components,
                                                 std::int64_t event_dims);

}  // namespace td
