// A function over pieces: two workers beside one, on 10,000 rows of 12 KiB. What the function does is
// what a program would do to samples before it learns from them: each row with mean 0 and deviation 1,
// and what is far out cut off.
#include "fixture.h"

#include "tensordict/td_torch.hpp"

#include <ATen/Parallel.h>

#include <atomic>
#include <memory>
#include <thread>

namespace bench {

namespace {

at::Tensor standard(const at::Tensor& rows) {
  const at::Tensor centred = rows - rows.mean(1, true);
  const at::Tensor deviation = centred.square().mean(1, true).add_(1e-6).sqrt_();
  return centred.div_(deviation).clamp_(-5, 5);
}

td_status standardize(void*, const td_map_piece*, td_tensordict* source, td_tensordict** result) {
  td_tensor* handle = nullptr;
  const char* path[] = {"leaf_0"};
  const char* nested[] = {"nested", "leaf_0"};
  ok(td_get(source, nested, 2, &handle));
  const at::Tensor made = standard(td_torch::from_handle(handle));
  td_tensor_free(handle);
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

// Two threads by hand: each takes the next piece, and puts what it made where it belongs.
Body by_two_threads(std::shared_ptr<Leaves> leaves) {
  return [leaves](benchmark::State& state) {
    constexpr std::int64_t piece = 250;
    const at::Tensor& rows = leaves->tensors[0];
    for (auto _ : state) {
      at::Tensor result = at::empty_like(rows);
      std::atomic<std::int64_t> next{0};
      const auto work = [&] {
        const at::NoGradGuard off;
        at::set_num_threads(1);
        for (std::int64_t at = next.fetch_add(piece); at < rows.size(0); at = next.fetch_add(piece))
          result.narrow(0, at, piece).copy_(standard(rows.narrow(0, at, piece)));
      };
      std::thread other(work);
      work();
      other.join();
    }
  };
}

}  // namespace

void register_map() {
  auto leaves = std::make_shared<Leaves>(1, std::vector<std::int64_t>{10000, 3072});
  figure("map: 10,000 rows of 12 KiB, 2 workers", 1, 1 / 1.7, map_with(leaves, 2),
         map_with(leaves, 1));
  figure("map: 10,000 rows of 12 KiB, 2 workers, beside two threads", 1, 1.1, map_with(leaves, 2),
         by_two_threads(leaves));
}

}  // namespace bench
