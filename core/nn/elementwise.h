// core/nn/elementwise.h: distributions of each element by itself, of vectors, and of elements that are one event.
#pragma once

#include "core/nn/distribution.h"

#include <functional>

namespace td {

using ParameterOf = std::function<const at::Tensor&(const char* name)>;

// Beta, Gamma, Uniform, Laplace, Exponential, Cauchy, StudentT, Poisson or HalfNormal.
std::unique_ptr<const Distribution> make_elementwise(DistributionKind kind,
                                                     const ParameterOf& parameter);

std::unique_ptr<const Distribution> make_multivariate_normal(const at::Tensor& loc,
                                                             const at::Tensor& scale_tril);

std::unique_ptr<const Distribution> make_dirichlet(const at::Tensor& concentration);

// The last dimension is one event (Python: Independent(base, 1)).
std::unique_ptr<const Distribution> make_event(std::unique_ptr<const Distribution> base);

}  // namespace td
