// core/math/call_fused.h: operators of libtorch that do for many tensors what another one does for one. For the
// core's own sources.
#pragma once

#include <ATen/core/operator_name.h>

#include <cstddef>
#include <string>

namespace td {

// The first `carried` arguments are taken over, tensors as lists; the others must be 1, which is what
// the form for many has in their place.
struct Fused {
  std::string name, overload;
  std::size_t carried;
};

// The form for many, or nullptr. This libtorch need not have it.
const Fused* fused_form(const c10::OperatorName& name);

}  // namespace td
