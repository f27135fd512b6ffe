// core/nn/distribution.h: distributions over tensors, equal to those of torch.distributions and
// tensordict.nn.
#pragma once

#include "core/nn/transforms.h"
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
  beta,
  gamma,
  uniform,
  laplace,
  exponential,
  multivariate_normal,  // the last dimension is one event
  cauchy,
  student_t,
  poisson,
  dirichlet,  // the last dimension is one event
  half_normal,
  log_normal,
  transformed,  // another one behind transforms
};

// Where a transformed distribution takes its mode, median, mean or deterministic value from.
enum class ValueSource {
  none,        // Python lacks it
  moved,       // that of the base behind the transforms
  estimate,    // the mean of samples
  log_normal,  // the formula for the exponential of a normal value
};

struct TransformedSpec {
  std::vector<TransformSpec> transforms;
  bool event = false;  // the last dimension is one event
  bool joint = false;  // a sample is scored by the value of the base that it was made of
  ValueSource mode = ValueSource::none, median = ValueSource::none;
  ValueSource mean = ValueSource::estimate, deterministic = ValueSource::estimate;
  std::int64_t estimates = 1000;  // samples of an estimate
};

// The options of a distribution, besides its parameters.
struct DistributionShape {
  DistributionKind kind = DistributionKind::normal;
  double low = -1, high = 1;  // tanh_normal, truncated_normal
  // One for each element of the event, such as the joints of a robot; empty: `low` and `high` for all.
  std::vector<double> lows, highs;
  double upscale = 5;  // with tanh_loc: loc becomes upscale * tanh(loc / upscale)
  bool tanh_loc = false;
  bool event = false;  // the last dimension is one event, of a distribution of elements
  // The last dimension, or that in front of an event, lists components, which further parameters weigh.
  bool mixture = false;
  DistributionKind base = DistributionKind::normal;  // of transformed; the options above are its
  TransformedSpec transformed;

  // The one whose parameters it has.
  DistributionKind root() const noexcept {
    return kind == DistributionKind::transformed ? base : kind;
  }
};

// The tensor, broadcast over new leading dimensions.
at::Tensor with_front(const at::Tensor& tensor, SizesView front);

using OptionalGenerator = compat::optional<at::Generator>;

struct Draw {
  at::Tensor value, log_prob;
};

class Distribution {
 public:
  virtual ~Distribution() = default;

  // Throw Code::unsupported if the distribution has no such value.
  virtual at::Tensor mode() const = 0;
  virtual at::Tensor median() const = 0;
  virtual at::Tensor mean() const = 0;
  virtual at::Tensor deterministic() const = 0;

  // Differentiable where the distribution allows it. `samples` adds leading dimensions.
  virtual at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const = 0;
  virtual at::Tensor log_prob(const at::Tensor& value) const = 0;

  // A sample with its log-probability, which is exact where the sample alone does not tell it.
  virtual Draw draw(SizesView samples, const OptionalGenerator& generator) const {
    const at::Tensor value = sample(samples, generator);
    return {value, log_prob(value)};
  }

  // How many samples to average where Python has no formula; 0: it has one.
  virtual std::int64_t estimates_mean() const noexcept { return 0; }
  virtual std::int64_t estimates_deterministic() const noexcept { return 0; }
};

// The accepted sets of parameter names, each sorted.
std::vector<std::vector<std::string>> parameter_names(const DistributionShape& shape);
// Those of a kind by itself, which is not transformed.
const std::vector<std::vector<std::string>>& parameter_names(DistributionKind kind);
const char* distribution_name(DistributionKind kind) noexcept;
std::optional<DistributionKind> distribution_of_name(const std::string& name) noexcept;

// Whether each element is counted by itself, so that the last dimension can be made one event.
bool is_elementwise(DistributionKind kind) noexcept;

// Whether its values are numbers that components of a mixture can have.
bool can_be_mixed(DistributionKind kind) noexcept;

// How many of the last dimensions are one event.
std::int64_t event_dims(DistributionKind kind) noexcept;

// Whether it has a lower and an upper bound.
bool is_bounded(DistributionKind kind) noexcept;

// `names` is one of parameter_names(), in any order; `values` are the parameters in that order.
std::unique_ptr<const Distribution> make_distribution(const DistributionShape& shape,
                                                      const std::vector<std::string>& names,
                                                      const std::vector<at::Tensor>& values);

// Maps the raw scale as NormalParamExtractor does: "softplus", "exp", "relu", "none", "biased_softplus_1.0".
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
