// core/tensor/random.h: tensors of random numbers, and of numbers in order.
#pragma once

#include "core/tensor/sizes.h"
#include "core/tensor/torch_compat.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace td {

// None stands for libtorch's own.
using MaybeGenerator = compat::optional<at::Generator>;

at::Generator make_generator(std::uint64_t seed);

// A copy; and one in place of the generator's own. Throws Code::dtype.
at::Tensor generator_state(at::Generator& generator);
void load_generator_state(at::Generator& generator, const at::Tensor& state);

// Each throws Code::invalid_argument for numbers that say nothing.
at::Tensor random_order(std::int64_t n, const MaybeGenerator& generator);
at::Tensor random_integers(std::int64_t low, std::int64_t high, SizesView sizes,
                           c10::ScalarType dtype, const MaybeGenerator& generator);
at::Tensor numbers_in_order(std::int64_t start, std::int64_t end, std::int64_t step,
                            c10::ScalarType dtype);

}  // namespace td
