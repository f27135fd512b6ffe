#include "core/math/allclose.h"

#include "core/tensor/dtype.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

#include <cmath>

namespace td {

namespace {

struct Tolerance {
  double relative, absolute;
};

// The tolerances of torch.testing.assert_close.
Tolerance tolerance_of(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Half: return {1e-3, 1e-5};
    case c10::ScalarType::BFloat16: return {1.6e-2, 1e-5};
    case c10::ScalarType::Float:
    case c10::ScalarType::ComplexFloat: return {1.3e-6, 1e-5};
    case c10::ScalarType::Double:
    case c10::ScalarType::ComplexDouble: return {1e-7, 1e-7};
    default: return {0, 0};
  }
}

std::string difference(Path path, const at::Tensor& one, const at::Tensor& two,
                       const CloseOptions& options) {
  const auto differ = [&](const auto& what, const auto& a, const auto& b) {
    return c10::str(show_path(path), " differs in ", what, ": ", a, " and ", b);
  };
  if (one.sizes() != two.sizes())
    return differ("shape", show_sizes(one.sizes()), show_sizes(two.sizes()));
  if (one.dtype() != two.dtype())
    return differ("dtype", dtype_name(one.scalar_type()), dtype_name(two.scalar_type()));
  if (one.device() != two.device()) return differ("device", one.device(), two.device());
  if (one.is_meta()) return {};
  const Tolerance usual = tolerance_of(one.scalar_type());
  if (at::allclose(one, two, options.relative.value_or(usual.relative),
                   options.absolute.value_or(usual.absolute), options.equal_nan)) {
    return {};
  }
  const auto wide = [](const at::Tensor& tensor) {
    return tensor.is_complex() ? tensor.to(at::kComplexDouble) : tensor.to(at::kDouble);
  };
  const double squares = (wide(one) - wide(two)).abs().pow(2).sum().item<double>();
  return c10::str(show_path(path), " differs: root mean square difference ",
                  std::sqrt(squares / static_cast<double>(one.numel())));
}

class CloseOp final : public ZipOp {
 public:
  explicit CloseOp(const CloseOptions& options) : options_(options) {}

  at::Tensor leaf(const Here& here, Tensors tensors) const override {
    if (tensors[0] == nullptr || tensors[1] == nullptr) {
      missing(here.path());
    } else if (found_.empty()) {
      found_ = difference(here.path(), tensors[0]->detach(), tensors[1]->detach(), options_);
    }
    return {};
  }

  Value data(const Here& here, NodesHere nodes) const override {
    if (nodes[0] == nullptr || nodes[1] == nullptr) {
      missing(here.path());
    } else if (found_.empty() && !same_non_tensor(*nodes[0], *nodes[1])) {
      found_ = show_path(here.path()) + " differs: " + non_tensor_json(*nodes[0]) + " and " +
               non_tensor_json(*nodes[1]);
    }
    return {};
  }

  const std::string& found() const { return found_; }

 private:
  void missing(Path path) const {
    if (found_.empty()) found_ = show_path(path) + " is in one of the dictionaries only";
  }

  const CloseOptions& options_;
  mutable std::string found_;
};

}  // namespace

std::string difference(const TensorDict& td, const TensorDict& other, const CloseOptions& options) {
  if (td.batch_size() != other.batch_size()) {
    return "batch sizes differ: " + show_sizes(td.batch_size()) + " and " +
           show_sizes(other.batch_size());
  }
  WalkRules policy;
  policy.missing = options.common_keys ? WalkRules::Missing::intersect : WalkRules::Missing::fill;
  policy.what = "a comparison";
  const CloseOp op(options);
  try {
    zip({td.node(), other.node()}, op, policy);
  } catch (const Error& error) {
    // A tensor where the other has a dictionary is a difference, too.
    if (error.code() != Code::wrong_entry) throw;
    return error.what();
  }
  return op.found();
}

}  // namespace td
