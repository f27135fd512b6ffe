// core/keys/plain_values.h: entries as plain memory and as numbers, without a tensor in between.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// What an entry holds, in row-major order, to memory of the caller. Code::dtype when it is of another one.
void copy_entry_out(const TensorDict& td, Path path, c10::ScalarType dtype, void* data,
                    std::size_t bytes);

// A tensor of the batch size whose elements are all this number.
void set_number(const TensorDict& td, Path path, c10::Scalar number, c10::ScalarType dtype);

// The number that an entry of one element is. Code::shape when it has more, Code::dtype when the number would
// not be the same: integers are not read from fractions, nothing is read from complex numbers.
std::int64_t integer_of(const TensorDict& td, Path path);
double real_of(const TensorDict& td, Path path);

// The dtype of the tensor under a path; nested tensors have one too.
c10::ScalarType entry_dtype(const TensorDict& td, Path path);

}  // namespace td
