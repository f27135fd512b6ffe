#include "core/tensor/random.h"

#include "core/base/error.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

namespace td {

at::Generator make_generator(std::uint64_t seed) { return at::detail::createCPUGenerator(seed); }

at::Tensor generator_state(at::Generator& generator) {
  // Draws on several threads are serialized; so are reads of the state.
  const std::lock_guard<std::mutex> hold(generator.mutex());
  return generator.get_state();
}

void load_generator_state(at::Generator& generator, const at::Tensor& state) {
  if (state.scalar_type() != at::kByte) {
    fail(Code::dtype, "the state of a generator must be uint8, found ",
         dtype_name(state.scalar_type()));
  }
  // A copy: libtorch checks it before it reads it again.
  const at::Tensor own = state.detach().cpu().clone(at::MemoryFormat::Contiguous);
  const std::lock_guard<std::mutex> hold(generator.mutex());
  generator.set_state(own);
}

at::Tensor random_order(std::int64_t n, const MaybeGenerator& generator) {
  if (n < 0) fail(Code::invalid_argument, "n is ", n, "; it must be at least 0");
  return at::randperm(n, generator, at::TensorOptions(at::kLong));
}

at::Tensor random_integers(std::int64_t low, std::int64_t high, SizesView sizes,
                           c10::ScalarType dtype, const MaybeGenerator& generator) {
  if (low >= high) {
    fail(Code::invalid_argument, "numbers from ", low, " to below ", high,
         ": there is no such number");
  }
  for (const std::int64_t size : sizes) {
    if (size < 0) fail(Code::shape, "sizes ", show_sizes(sizes), ": none may be negative");
  }
  return at::randint(low, high, sizes, generator, at::TensorOptions(dtype));
}

at::Tensor numbers_in_order(std::int64_t start, std::int64_t end, std::int64_t step,
                            c10::ScalarType dtype) {
  if (step == 0 || (step > 0 ? start > end : start < end)) {
    fail(Code::invalid_argument, "from ", start, " in steps of ", step, " there is no way to ",
         end);
  }
  return at::arange(start, end, step, at::TensorOptions(dtype));
}

}  // namespace td
