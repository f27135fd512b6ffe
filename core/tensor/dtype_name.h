// core/tensor/dtype_name.h: dtypes as PyTorch prints them.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

namespace td {

// "torch.float32"
std::string dtype_name(c10::ScalarType dtype);

}  // namespace td
