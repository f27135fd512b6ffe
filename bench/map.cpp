// A function over pieces: two workers beside one, on 10,000 rows of 12 KiB. What the function does is
// what a program would do to samples before it learns from them: each row with mean 0 and deviation 1,
// and what is far out cut off.
#include "fixture.h"

#include "tensordict/td_torch.hpp"

#include <memory>

namespace bench {

namespace {

td_status standardize(void*, const td_map_piece*, td_tensordict* source, td_tensordict** result) {
  td_tensor* handle = nullptr;
  const char* path[] = {"leaf_0"};
  const char* nested[] = {"nested", "leaf_0"};
  ok(td_get(source, nested, 2, &handle));
  const at::Tensor rows = td_torch::from_handle(handle);
  td_tensor_free(handle);
  const at::Tensor centred = rows - rows.mean(1, true);
  const at::Tensor deviation = centred.square().mean(1, true).add_(1e-6).sqrt_();
  const at::Tensor made = centred.div_(deviation).clamp_(-5, 5);
  const std::int64_t count = made.size(0);
  ok(td_create(&count, 1, TD_DEVICE_NONE, -1, result));
  handle = td_torch::to_handle(made);
  ok(td_set(*result, path, 1, handle));
  td_tensor_free(handle);
  return TD_OK;
}

Body map_with(std::shared_ptr<Leaves> leaves, std::int32_t workers) {
  return [leaves, workers](benchmark::State& state) {
    td_map_options options = TD_MAP_OPTIONS_INIT;
    options.cut = TD_MAP_CUT_SIZE;
    options.amount = 250;
    options.num_workers = workers;
    for (auto _ : state) {
      td_tensordict* result = nullptr;
      ok(td_map(leaves->td, &options, standardize, nullptr, &result));
      td_free(result);
    }
  };
}

}  // namespace

void register_map() {
  auto leaves = std::make_shared<Leaves>(1, std::vector<std::int64_t>{10000, 3072});
  figure("map: 10,000 rows of 12 KiB, 2 workers", 1, 1 / 1.7, map_with(leaves, 2),
         map_with(leaves, 1));
}

}  // namespace bench
