#include "core/nn/transforms.h"

#include "core/base/error.h"
#include "core/tensor/sizes.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace td {

namespace {

constexpr const char* transform_names[] = {"affine", "tanh",     "safe_tanh", "sigmoid",
                                           "exp",    "softplus", "power"};

template <class T>
Precision precision_as(double resolution) {
  return {static_cast<double>(std::numeric_limits<T>::min()),
          static_cast<double>(std::numeric_limits<T>::epsilon()), resolution};
}

double limit_of(const at::Tensor& x) { return 1 - precision_of(x.scalar_type()).resolution; }

at::Tensor inside_unit(const at::Tensor& part) {
  const Precision limits = precision_of(part.scalar_type());
  return part.clamp(limits.tiny, 1 - limits.eps);
}

// A number for each element, as a tensor beside `x`.
at::Tensor numbers_for(const std::vector<double>& numbers, const at::Tensor& x) {
  if (numbers.size() == 1) return at::scalar_tensor(numbers[0], x.options());
  if (x.dim() == 0 || x.size(-1) != static_cast<std::int64_t>(numbers.size())) {
    fail(Code::shape, "a transform has numbers for ", numbers.size(),
         " elements, its value has shape ", show_sizes(x.sizes()));
  }
  return at::tensor(numbers, at::kDouble).to(x.options());
}

at::Tensor forward(const TransformSpec& spec, const at::Tensor& x) {
  switch (spec.kind) {
    case TransformSpec::Kind::affine:
      return numbers_for(spec.loc, x) + numbers_for(spec.scale, x) * x;
    case TransformSpec::Kind::tanh: return x.tanh();
    case TransformSpec::Kind::safe_tanh: return tanh_within(x, limit_of(x));
    case TransformSpec::Kind::sigmoid: return inside_unit(x.sigmoid());
    case TransformSpec::Kind::exp: return x.exp();
    case TransformSpec::Kind::softplus: return at::softplus(x);
    case TransformSpec::Kind::power: break;
  }
  return x.pow(numbers_for(spec.exponent, x));
}

at::Tensor back(const TransformSpec& spec, const at::Tensor& y) {
  switch (spec.kind) {
    case TransformSpec::Kind::affine:
      return (y - numbers_for(spec.loc, y)) / numbers_for(spec.scale, y);
    case TransformSpec::Kind::tanh: return y.atanh();
    case TransformSpec::Kind::safe_tanh: return atanh_within(y, limit_of(y));
    case TransformSpec::Kind::sigmoid: {
      const at::Tensor part = inside_unit(y);
      return part.log() - part.neg().log1p();
    }
    case TransformSpec::Kind::exp: return y.log();
    case TransformSpec::Kind::softplus: return y.neg().expm1().neg().log() + y;
    case TransformSpec::Kind::power: break;
  }
  return y.pow(numbers_for(spec.exponent, y).reciprocal());
}

at::Tensor forward_log_slope(const TransformSpec& spec, const at::Tensor& x) {
  switch (spec.kind) {
    case TransformSpec::Kind::affine: return numbers_for(spec.scale, x).abs().log().expand_as(x);
    case TransformSpec::Kind::tanh:
    case TransformSpec::Kind::safe_tanh: return (std::log(2.0) - x - at::softplus(x * -2)) * 2;
    case TransformSpec::Kind::sigmoid: return -at::softplus(-x) - at::softplus(x);
    case TransformSpec::Kind::exp: return x;
    case TransformSpec::Kind::softplus: return -at::softplus(-x);
    case TransformSpec::Kind::power: break;
  }
  const at::Tensor exponent = numbers_for(spec.exponent, x);
  return (exponent * x.pow(exponent - 1)).abs().log();
}

}  // namespace

at::Tensor with_gradient_of(const at::Tensor& x, const at::Tensor& numbers) {
  return numbers.detach() + (x - x.detach()).nan_to_num(0.0);  // of an infinite x, too
}

at::Tensor tanh_within(const at::Tensor& x, double limit) {
  const at::Tensor tanh = x.tanh(), kept = tanh.clamp(-limit, limit);
  if (!kept.requires_grad()) return kept;
  const at::Tensor at_limit = kept.detach();
  const at::Tensor slope = 1 - at_limit * at_limit;
  return at::where(tanh.detach().abs() > limit, with_gradient_of(x * slope, kept), kept);
}

at::Tensor atanh_within(const at::Tensor& y, double limit) {
  const at::Tensor kept = y.clamp(-limit, limit), result = kept.atanh();
  if (!result.requires_grad()) return result;
  const at::Tensor at_limit = kept.detach();
  const at::Tensor slope = (1 - at_limit * at_limit).reciprocal();
  return at::where(y.detach().abs() > limit, with_gradient_of(y * slope, result), result);
}

Precision precision_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kDouble: return precision_as<double>(1e-15);
    case at::kHalf: return precision_as<c10::Half>(1e-3);
    case at::kBFloat16: return precision_as<c10::BFloat16>(1e-2);
    default: return precision_as<float>(1e-6);
  }
}

const char* transform_name(TransformSpec::Kind kind) noexcept {
  return transform_names[static_cast<std::size_t>(kind)];
}

std::optional<TransformSpec::Kind> transform_of_name(const std::string& name) noexcept {
  for (std::size_t i = 0; i < std::size(transform_names); ++i)
    if (name == transform_names[i]) return static_cast<TransformSpec::Kind>(i);
  return std::nullopt;
}

at::Tensor transformed(const TransformSpec& spec, const at::Tensor& x) {
  return spec.inverse ? back(spec, x) : forward(spec, x);
}

at::Tensor transformed_back(const TransformSpec& spec, const at::Tensor& y) {
  return spec.inverse ? forward(spec, y) : back(spec, y);
}

at::Tensor log_slope(const TransformSpec& spec, const at::Tensor& x) {
  return spec.inverse ? -forward_log_slope(spec, back(spec, x)) : forward_log_slope(spec, x);
}

}  // namespace td
