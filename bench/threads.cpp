// From which size on a copy is worth sharing between threads: the clone of one leaf on all of the
// machine's threads, beside the same on one. td::rows::parallel_bytes is set by these rows.
#include "fixture.h"

#include <ATen/Parallel.h>

#include <memory>
#include <thread>

namespace bench {

namespace {

Body clone_with(std::shared_ptr<Leaves> leaves, int threads) {
  return [leaves, threads](benchmark::State& state) {
    at::set_num_threads(threads);
    for (auto _ : state) {
      td_tensordict* result = nullptr;
      ok(td_clone(leaves->td, 0, &result));
      td_free(result);
    }
    at::set_num_threads(1);
  };
}

}  // namespace

void register_threads() {
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  for (const std::int64_t kib : {128, 256, 512, 1024, 2048, 4096, 16384}) {
    auto leaves = std::make_shared<Leaves>(1, std::vector<std::int64_t>{kib, 256});
    figure("threads: clone of " + std::to_string(kib) + " KiB", 1, 0, clone_with(leaves, threads),
           clone_with(leaves, 1));
  }
}

}  // namespace bench
