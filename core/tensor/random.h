// core/tensor/random.h: tensors of random numbers, and ranges.
#pragma once

#include "core/tensor/sizes.h"
#include "core/tensor/torch_compat.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace td {

// nullopt: libtorch's default generator.
using MaybeGenerator = compat::optional<at::Generator>;

at::Generator make_generator(std::uint64_t seed);

// Copies a generator's state, and sets it. Throws Code::dtype.
at::Tensor generator_state(at::Generator& generator);
void load_generator_state(at::Generator& generator, const at::Tensor& state);

// Throw Code::invalid_argument for meaningless numbers.
at::Tensor random_order(std::int64_t n, const MaybeGenerator& generator);
at::Tensor random_integers(std::int64_t low, std::int64_t high, SizesView sizes,
                           c10::ScalarType dtype, const MaybeGenerator& generator);
at::Tensor numbers_in_order(std::int64_t start, std::int64_t end, std::int64_t step,
                            c10::ScalarType dtype);

}  // namespace td
