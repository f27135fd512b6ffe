// core/distributed/reducible.h: tensors of any dtype as tensors that gloo reduces.
#pragma once

#include "core/distributed/backend.h"
#include "core/distributed/leaves.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace td::distributed {

// Whom the values are for: this library alone, or Python as well, which decides then how they travel.
enum class Peers : std::uint8_t { ours, python };

// Code::dtype if a tensor cannot be reduced so; it names the tensor.
void require_reducible(const std::vector<Leaf>& leaves, Op op, Peers peers);

// The values that travel: the small floats as float32, int16 as int32, complex numbers as pairs, and bools as
// integers. May be the tensor itself.
at::Tensor to_wire(const at::Tensor& values, Peers peers);
// The values of a dtype again.
at::Tensor from_wire(const at::Tensor& values, c10::ScalarType dtype);

// Tensors to reduce, and where in them the values of each leaf are.
struct Reduced {
  std::vector<at::Tensor> rows;
  std::vector<at::Tensor> values;  // views of `rows`, one for each leaf
};
Reduced one_by_one(const std::vector<Leaf>& leaves, Peers peers);
// As Python's `bucket_bytes`: the values of each dtype, in the order of its first leaf, in buffers of up to `limit`
// bytes; among Python's ranks what is not contiguous alone and first.
Reduced bucketed(const std::vector<Leaf>& leaves, std::size_t limit, Peers peers);

// What the leaves become: averages are divided, and dtypes are those of the leaves.
std::vector<at::Tensor> results_of(const Reduced& reduced, const std::vector<Leaf>& leaves, Op op,
                                   int size);

}  // namespace td::distributed
