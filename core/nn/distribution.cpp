#include "core/nn/distribution.h"

#include "core/base/error.h"
#include "core/formats/digits.h"
#include "core/nn/classes.h"
#include "core/nn/elementwise.h"
#include "core/nn/mixture.h"
#include "core/nn/normal.h"
#include "core/nn/transformed.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace td {

namespace {

class Delta final : public Distribution {
 public:
  explicit Delta(at::Tensor param) : param_(std::move(param)) {}
  at::Tensor mode() const override { return param_; }
  at::Tensor median() const override { return param_; }
  at::Tensor mean() const override { return param_; }
  at::Tensor deterministic() const override { return param_; }
  at::Tensor sample(SizesView samples, const OptionalGenerator&) const override {
    return with_front(param_, samples);
  }
  at::Tensor log_prob(const at::Tensor& value) const override {
    at::Tensor same = (value - param_).abs().lt(param_.abs() * 1e-6 + 1e-6);
    if (same.dim() != 0) same = same.all(-1);
    const double infinity = std::numeric_limits<double>::infinity();
    const at::Tensor zero = at::zeros(same.sizes(), param_.options());
    return zero.masked_fill(same, infinity).masked_fill(same.logical_not(), -infinity);
  }

 private:
  at::Tensor param_;
};

}  // namespace

at::Tensor with_front(const at::Tensor& tensor, SizesView front) {
  if (front.empty()) return tensor;
  Sizes sizes(front.begin(), front.end());
  sizes.append(tensor.sizes().begin(), tensor.sizes().end());
  return tensor.expand(sizes);
}

const std::vector<std::vector<std::string>>& parameter_names(DistributionKind kind) {
  using Lists = std::vector<std::vector<std::string>>;
  static const Lists* const normal = new Lists{{"loc", "scale"}};
  static const Lists* const classes = new Lists{{"logits"}, {"probs"}};
  static const Lists* const delta = new Lists{{"param"}};
  static const Lists* const beta = new Lists{{"concentration0", "concentration1"}};
  static const Lists* const gamma = new Lists{{"concentration", "rate"}};
  static const Lists* const uniform = new Lists{{"high", "low"}};
  static const Lists* const rate = new Lists{{"rate"}};
  static const Lists* const multivariate = new Lists{{"loc", "scale_tril"}};
  static const Lists* const student = new Lists{{"df", "loc", "scale"}};
  static const Lists* const dirichlet = new Lists{{"concentration"}};
  static const Lists* const scale = new Lists{{"scale"}};
  switch (kind) {
    case DistributionKind::categorical:
    case DistributionKind::one_hot_categorical:
    case DistributionKind::bernoulli: return *classes;
    case DistributionKind::delta: return *delta;
    case DistributionKind::beta: return *beta;
    case DistributionKind::gamma: return *gamma;
    case DistributionKind::uniform: return *uniform;
    case DistributionKind::exponential:
    case DistributionKind::poisson: return *rate;
    case DistributionKind::multivariate_normal: return *multivariate;
    case DistributionKind::student_t: return *student;
    case DistributionKind::dirichlet: return *dirichlet;
    case DistributionKind::half_normal: return *scale;
    default: return *normal;
  }
}

std::vector<std::vector<std::string>> parameter_names(const DistributionShape& shape) {
  const auto& own = parameter_names(shape.root());
  if (!shape.mixture) return own;
  std::vector<std::vector<std::string>> lists;
  for (const std::vector<std::string>& list : own) {
    for (const char* const weights : {"logits", "probs"}) {
      lists.push_back(list);
      lists.back().emplace_back(weights);
      std::sort(lists.back().begin(), lists.back().end());
    }
  }
  return lists;
}

const char* distribution_name(DistributionKind kind) noexcept {
  switch (kind) {
    case DistributionKind::normal: return "Normal";
    case DistributionKind::independent_normal: return "IndependentNormal";
    case DistributionKind::tanh_normal: return "TanhNormal";
    case DistributionKind::truncated_normal: return "TruncatedNormal";
    case DistributionKind::categorical: return "Categorical";
    case DistributionKind::one_hot_categorical: return "OneHotCategorical";
    case DistributionKind::bernoulli: return "Bernoulli";
    case DistributionKind::delta: return "Delta";
    case DistributionKind::beta: return "Beta";
    case DistributionKind::gamma: return "Gamma";
    case DistributionKind::uniform: return "Uniform";
    case DistributionKind::laplace: return "Laplace";
    case DistributionKind::exponential: return "Exponential";
    case DistributionKind::multivariate_normal: return "MultivariateNormal";
    case DistributionKind::cauchy: return "Cauchy";
    case DistributionKind::student_t: return "StudentT";
    case DistributionKind::poisson: return "Poisson";
    case DistributionKind::dirichlet: return "Dirichlet";
    case DistributionKind::half_normal: return "HalfNormal";
    case DistributionKind::log_normal: return "LogNormal";
    case DistributionKind::transformed: return "Transformed";
  }
  return "";
}

std::optional<DistributionKind> distribution_of_name(const std::string& name) noexcept {
  for (int i = 0; i <= static_cast<int>(DistributionKind::transformed); ++i) {
    const auto kind = static_cast<DistributionKind>(i);
    if (name == distribution_name(kind)) return kind;
  }
  return std::nullopt;
}

bool is_elementwise(DistributionKind kind) noexcept {
  switch (kind) {
    case DistributionKind::normal:
    case DistributionKind::categorical:
    case DistributionKind::one_hot_categorical:
    case DistributionKind::bernoulli:
    case DistributionKind::beta:
    case DistributionKind::gamma:
    case DistributionKind::uniform:
    case DistributionKind::laplace:
    case DistributionKind::exponential:
    case DistributionKind::cauchy:
    case DistributionKind::student_t:
    case DistributionKind::poisson:
    case DistributionKind::half_normal:
    case DistributionKind::log_normal: return true;
    default: return false;
  }
}

bool can_be_mixed(DistributionKind kind) noexcept {
  switch (kind) {
    case DistributionKind::categorical:
    case DistributionKind::one_hot_categorical:
    case DistributionKind::bernoulli: return false;
    default: return is_elementwise(kind) || event_dims(kind) != 0;
  }
}

std::int64_t event_dims(DistributionKind kind) noexcept {
  return kind == DistributionKind::independent_normal ||
         kind == DistributionKind::multivariate_normal || kind == DistributionKind::dirichlet;
}

bool is_bounded(DistributionKind kind) noexcept {
  return kind == DistributionKind::tanh_normal || kind == DistributionKind::truncated_normal;
}

namespace {

// The sizes of the components together, their list at the end.
std::vector<std::int64_t> component_sizes(DistributionKind kind,
                                          const std::vector<std::string>& names,
                                          const std::vector<at::Tensor>& values) {
  std::vector<std::int64_t> together;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t own = names[i] == "scale_tril" ? 2 : event_dims(kind);
    if (values[i].dim() <= own) continue;
    const SizesView all = values[i].sizes();
    together = at::infer_size(together, all.slice(0, all.size() - static_cast<std::size_t>(own)));
  }
  return together;
}

// Weights for each mixture, so that each draws a component of its own.
at::Tensor weights_for(const at::Tensor& given, const std::vector<std::int64_t>& components) {
  if (given.dim() < 1 || components.empty()) return given;
  std::vector<std::int64_t> wanted = components;
  wanted.back() = given.size(-1);
  if (given.sizes().size() != wanted.size() || !at::is_expandable_to(given.sizes(), wanted)) {
    fail(Code::shape, "a mixture weighs components of the sizes ", given.sizes(),
         ", and its other parameters hold ", SizesView(components));
  }
  return given.expand(wanted);
}

// One of the parameters weighs the components, which have the others.
std::unique_ptr<const Distribution> mixture_of(const DistributionShape& shape,
                                               std::vector<std::string> names,
                                               std::vector<at::Tensor> values) {
  const auto at = std::find_if(names.begin(), names.end(), [](const std::string& name) {
    return name == "logits" || name == "probs";
  });
  const auto place = at - names.begin();
  const bool from_logits = *at == "logits";
  const at::Tensor given = values[static_cast<std::size_t>(place)];
  names.erase(at);
  values.erase(values.begin() + place);
  Classes weights(from_logits, weights_for(given, component_sizes(shape.kind, names, values)));
  DistributionShape component = shape;
  component.mixture = false;
  return make_mixture(std::move(weights), make_distribution(component, names, values),
                      event_dims(shape.kind));
}

}  // namespace

std::unique_ptr<const Distribution> make_distribution(const DistributionShape& shape,
                                                      const std::vector<std::string>& names,
                                                      const std::vector<at::Tensor>& values) {
  if (shape.event) {
    DistributionShape each = shape;
    each.event = false;
    return make_event(make_distribution(each, names, values));
  }
  if (shape.mixture) return mixture_of(shape, names, values);
  const auto parameter = [&](const char* name) -> const at::Tensor& {
    return values[std::find(names.begin(), names.end(), name) - names.begin()];
  };
  const bool from_logits = names[0] == "logits";
  switch (shape.kind) {
    case DistributionKind::categorical:
    case DistributionKind::one_hot_categorical:
    case DistributionKind::bernoulli: return make_classes(shape.kind, from_logits, values[0]);
    case DistributionKind::delta: return std::make_unique<Delta>(values[0]);
    case DistributionKind::beta:
    case DistributionKind::gamma:
    case DistributionKind::uniform:
    case DistributionKind::laplace:
    case DistributionKind::exponential:
    case DistributionKind::cauchy:
    case DistributionKind::student_t:
    case DistributionKind::poisson:
    case DistributionKind::half_normal: return make_elementwise(shape.kind, parameter);
    case DistributionKind::dirichlet: return make_dirichlet(values[0]);
    case DistributionKind::log_normal: return make_log_normal(parameter("loc"), parameter("scale"));
    case DistributionKind::multivariate_normal:
      return make_multivariate_normal(parameter("loc"), parameter("scale_tril"));
    case DistributionKind::transformed: {
      DistributionShape base = shape;
      base.kind = shape.base;
      const std::size_t loc = names[0] == "scale" ? 1 : 0;
      return make_transformed(shape, make_distribution(base, names, values), values[loc],
                              values.size() == 2 ? values[1 - loc] : at::Tensor());
    }
    default: break;
  }
  return make_normal(shape, parameter("loc"), parameter("scale"));
}

ScaleMapping::ScaleMapping(const std::string& name) {
  static constexpr std::string_view biased = "biased_softplus_";
  if (name == "softplus") {
    kind_ = Kind::softplus;
  } else if (name == "exp") {
    kind_ = Kind::exponential;
  } else if (name == "relu") {
    kind_ = Kind::relu;
  } else if (name == "none") {
    kind_ = Kind::none;
  } else {
    kind_ = Kind::biased;
    const std::string number =
        name.compare(0, biased.size(), biased) == 0 ? name.substr(biased.size()) : "";
    double at_zero = 0;
    if (!parse_digits(number, at_zero) || !(at_zero > 0.01) || !std::isfinite(at_zero)) {
      fail(Code::invalid_argument, "the scale mapping is \"", name,
           "\"; softplus, exp, relu, none and biased_softplus_B with a number B above 0.01 are "
           "known");
    }
    bias_ = std::log(std::expm1(at_zero - 0.01));
  }
}

at::Tensor ScaleMapping::operator()(const at::Tensor& scale) const {
  switch (kind_) {
    case Kind::softplus: return at::softplus(scale);
    case Kind::exponential: return scale.exp();
    case Kind::relu: return scale.relu();
    case Kind::none: return scale;
    case Kind::biased: break;
  }
  return at::softplus(scale + bias_) + 0.01;
}

}  // namespace td
