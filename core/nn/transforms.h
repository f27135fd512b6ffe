// core/nn/transforms.h: functions of a random value with an inverse, equal to torch.distributions.transforms.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

namespace td {

// Numbers of torch.finfo, by which values stay a little inside of their bounds.
struct Precision {
  double tiny, eps, resolution;
};
Precision precision_of(c10::ScalarType dtype);

// These numbers, with the gradient of x.
at::Tensor with_gradient_of(const at::Tensor& x, const at::Tensor& numbers);

// tanh, and its inverse, at most `limit` from 0, with the gradients of TorchRL's safetanh and safeatanh: the slope at
// the limit, for all that is beyond it.
at::Tensor tanh_within(const at::Tensor& x, double limit);
at::Tensor atanh_within(const at::Tensor& y, double limit);

struct TransformSpec {
  enum class Kind {
    affine,     // loc + scale * x
    tanh,       // torch's
    safe_tanh,  // TorchRL's: stays slightly inside -1 and 1, where the inverse is finite
    sigmoid,
    exp,
    softplus,
    power,  // of a positive value, to `exponent`
  };
  Kind kind = Kind::affine;
  // Of affine and of power: for all elements, or one for each.
  std::vector<double> loc{0}, scale{1}, exponent{1};
  bool inverse = false;  // the other way, as Python's `transform.inv`
  // Python's cache_size=1: the value that a result was made of is taken for its inverse.
  bool cached = false;
};

const char* transform_name(TransformSpec::Kind kind) noexcept;
std::optional<TransformSpec::Kind> transform_of_name(const std::string& name) noexcept;

// Throws Code::shape if there are numbers for another number of elements.
at::Tensor transformed(const TransformSpec& spec, const at::Tensor& x);
at::Tensor transformed_back(const TransformSpec& spec, const at::Tensor& y);

// The logarithm of the slope, for each element of x.
at::Tensor log_slope(const TransformSpec& spec, const at::Tensor& x);

}  // namespace td
