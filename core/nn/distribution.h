// core/nn/distribution.h: distributions over tensors, as torch.distributions and tensordict.nn compute them.
#pragma once

#include "core/tensor/sizes.h"
#include "core/tensor/torch_compat.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

enum class DistributionKind {
  normal,
  independent_normal,  // the last dimension is one event
  tanh_normal,
  truncated_normal,
  categorical,
  one_hot_categorical,
  bernoulli,
  delta,
};

// What a distribution of a kind knows beside its parameters.
struct DistributionShape {
  DistributionKind kind = DistributionKind::normal;
  double low = -1, high = 1;  // tanh_normal, truncated_normal
  double upscale = 5;         // these, with tanh_loc: loc is upscale * tanh(loc / upscale)
  bool tanh_loc = false;
};

// The tensor with dimensions in front, over which it is the same.
at::Tensor with_front(const at::Tensor& tensor, SizesView front);

using OptionalGenerator = compat::optional<at::Generator>;

class Distribution {
 public:
  virtual ~Distribution() = default;

  // These throw Code::unsupported where the distribution has no such value.
  virtual at::Tensor mode() const = 0;
  virtual at::Tensor median() const = 0;
  virtual at::Tensor mean() const = 0;
  virtual at::Tensor deterministic() const = 0;

  // With gradients where there can be any. `samples` dimensions come first.
  virtual at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const = 0;
  virtual at::Tensor log_prob(const at::Tensor& value) const = 0;
};

// The names of its parameters, for messages: one of the lists.
const std::vector<std::vector<std::string>>& parameter_names(DistributionKind kind);
const char* distribution_name(DistributionKind kind) noexcept;
std::optional<DistributionKind> distribution_of_name(const std::string& name) noexcept;

// Whether it has a lower and an upper bound.
bool is_bounded(DistributionKind kind) noexcept;

// `names` is one of parameter_names(), in any order, and `values` stand for them.
std::unique_ptr<const Distribution> make_distribution(const DistributionShape& shape,
                                                      const std::vector<std::string>& names,
                                                      const std::vector<at::Tensor>& values);

// What NormalParamExtractor does to a scale: "softplus", "exp", "relu", "none", "biased_softplus_1.0".
class ScaleMapping {
 public:
  explicit ScaleMapping(const std::string& name);  // throws Code::invalid_argument
  at::Tensor operator()(const at::Tensor& scale) const;

 private:
  enum class Kind { softplus, exponential, relu, none, biased };
  Kind kind_;
  double bias_ = 0;
};

}  // namespace td
