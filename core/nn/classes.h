// core/nn/classes.h: distributions of classes, which the last dimension of their parameters lists.
#pragma once

#include "core/nn/distribution.h"

namespace td {

// How likely each class is.
struct Classes {
  // Throws Code::shape if there is no dimension of classes.
  Classes(bool from_logits, const at::Tensor& given);
  // Class numbers, with `samples` in front.
  at::Tensor draw(SizesView samples, const OptionalGenerator& generator) const;

  at::Tensor probs, log_probs;
};

// Categorical, OneHotCategorical or Bernoulli.
std::unique_ptr<const Distribution> make_classes(DistributionKind kind, bool from_logits,
                                                 const at::Tensor& given);

}  // namespace td
