// tensordict/td_random.h
#include "arguments.h"
#include "give.h"
#include "guard.h"

#include "core/tensor/random.h"

namespace capi {

template <>
struct Traits<td_generator> : OwnedTraits<at::Generator, Kind::generator> {
  static constexpr const char* name = "generator";
};

}  // namespace capi

namespace {

td::MaybeGenerator generator_in(const td_generator* generator) {
  if (generator == nullptr) return {};
  return *in(generator);
}

}  // namespace

td_status td_generator_create(uint64_t seed, td_generator** result) noexcept {
  return give(__func__, result,
              [&] { return std::make_unique<at::Generator>(td::make_generator(seed)); });
}

void td_generator_free(td_generator* generator) noexcept { capi::free_handle(generator); }

td_status td_generator_state(const td_generator* generator, td_tensor** result) noexcept {
  return give(__func__, result, [&] { return td::generator_state(*in(generator)); });
}

td_status td_generator_load_state(td_generator* generator, const td_tensor* state) noexcept {
  return guard(__func__, [&] { td::load_generator_state(*in(generator), *in(state)); });
}

td_status td_tensor_randperm(int64_t n, td_generator* generator, td_tensor** result) noexcept {
  return give(__func__, result, [&] { return td::random_order(n, generator_in(generator)); });
}

td_status td_tensor_randint(int64_t low, int64_t high, const int64_t* sizes, size_t dims,
                            td_dtype dtype, td_generator* generator, td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    return td::random_integers(low, high, sizes_in(sizes, dims), capi::dtype_in(dtype),
                               generator_in(generator));
  });
}

td_status td_tensor_arange(int64_t start, int64_t end, int64_t step, td_dtype dtype,
                           td_tensor** result) noexcept {
  return give(__func__, result,
              [&] { return td::numbers_in_order(start, end, step, capi::dtype_in(dtype)); });
}
