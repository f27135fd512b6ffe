// core/math/call_fused.h: libtorch's operators that process many tensors in one call. Internal.
#pragma once

#include <ATen/core/operator_name.h>

#include <cstddef>
#include <string>

namespace td {

// The first `carried` arguments are passed on, tensors as lists; the others must be 1, as the fused operator
// assumes.
struct Fused {
  std::string name, overload;
  std::size_t carried;
};

// The fused operator, or nullptr. This libtorch may lack it.
const Fused* fused_form(const c10::OperatorName& name);

}  // namespace td
