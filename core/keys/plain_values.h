// core/keys/plain_values.h: entries as plain memory and numbers.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// Copies an entry in row-major order to the caller's memory. Code::dtype if the dtype differs.
void copy_entry_out(const TensorDict& td, Path path, c10::ScalarType dtype, void* data,
                    std::size_t bytes);

// Sets a tensor of the batch size filled with a number.
void set_number(const TensorDict& td, Path path, c10::Scalar number, c10::ScalarType dtype);

// The number in an entry of one element. Code::shape if it has more, Code::dtype if the value would change:
// fractions are not integers, complex numbers are refused.
std::int64_t integer_of(const TensorDict& td, Path path);
double real_of(const TensorDict& td, Path path);

// The dtype of the tensor at a path, which may be a nested tensor.
c10::ScalarType entry_dtype(const TensorDict& td, Path path);

}  // namespace td
