// Minibatches by a loader, beside the copies alone: the same rows by two threads, an index with an order that
// is ready, the same runs of steps.
#include "fixture.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

namespace bench {

namespace {

std::vector<std::int64_t> shuffled(std::int64_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(7));
  return order;
}

// Made when it is first measured, and freed after it: workers that wait would disturb others.
Body loads(const td_tensordict* data, td_loader_options options) {
  return [data, options](benchmark::State& state) {
    td_loader* loader = nullptr;
    ok(td_loader_create(data, &options, &loader));
    for (auto _ : state) {
      td_tensordict* batch = nullptr;
      ok(td_loader_next(loader, &batch));
      if (batch == nullptr) ok(td_loader_next(loader, &batch));  // another epoch
      td_free(batch);
    }
    td_loader_free(loader);
  };
}

// A second thread that is there for half of each copy, and waits without sleeping.
class Helper {
 public:
  explicit Helper(std::function<void()> half)
      : half_(std::move(half)), thread_([this] { run(); }) {}
  ~Helper() {
    turn_ = -1;
    thread_.join();
  }
  void begin() { done_ = false, turn_ = 1; }
  void wait() {
    while (!done_) std::this_thread::yield();
  }

 private:
  void run() {
    while (true) {
      int turn = turn_;
      while (turn == 0) {
        std::this_thread::yield();
        turn = turn_;
      }
      if (turn < 0) return;
      turn_ = 0;
      half_();
      done_ = true;
    }
  }

  std::function<void()> half_;
  std::atomic<int> turn_{0};
  std::atomic<bool> done_{true};
  std::thread thread_;
};

const float* memory_of(const td_tensordict* td, const char* name) {
  td_tensor* leaf = nullptr;
  void* memory = nullptr;
  ok(td_get(td, &name, 1, &leaf));
  ok(td_tensor_data(leaf, &memory));
  td_tensor_free(leaf);
  return static_cast<const float*>(memory);
}

td_loader_options shuffle_of(std::int64_t rows, int workers) {
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  options.rows = rows;
  options.flags = TD_LOADER_SHUFFLE | TD_LOADER_DROP_LAST;
  options.num_workers = workers;
  return options;
}

constexpr std::int64_t steps = 1000000, episode = 250, slice_count = 32, slice_len = 64;

// A recording: observation [16], action [4], reward [1], done [1] of each step.
struct Recording {
  Recording() {
    const std::int64_t sizes[] = {16, 4, 1};
    for (const std::int64_t size : sizes) leaves.push_back(at::rand({steps, size}));
    at::Tensor done = at::zeros({steps, 1}, at::kBool);
    for (std::int64_t i = episode - 1; i < steps; i += episode) done[i] = true;
    leaves.push_back(done);
    const char* names[] = {"observation", "action", "reward", "done"};
    ok(td_create(&steps, 1, TD_DEVICE_NONE, -1, &td));
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      td_tensor* leaf = wrap(leaves[i]);
      ok(td_set(td, names + i, 1, leaf));
      td_tensor_free(leaf);
    }
  }
  ~Recording() { td_free(td); }
  td_tensordict* td = nullptr;
  std::vector<at::Tensor> leaves;
};

}  // namespace

void register_loader() {
  const auto recording =
      std::make_shared<std::unique_ptr<Recording>>();  // made by whoever is measured first
  const auto made = [recording]() -> Recording& {
    if (!*recording) *recording = std::make_unique<Recording>();
    return **recording;
  };
  figure(
      "loader: 32 slices of 64 out of 1,000,000 steps", 4, 1.3,
      [made](benchmark::State& state) {
        static const char* const done[] = {"done"};
        static const td_key ends = {done, 1};
        td_loader_options options = TD_LOADER_OPTIONS_INIT;
        options.rows = slice_count;
        options.flags = TD_LOADER_SHUFFLE | TD_LOADER_DROP_LAST;
        options.slice_len = slice_len;
        options.ends = &ends;
        options.ends_len = 1;
        loads(made().td, options)(state);
      },
      [made](benchmark::State& state) {
        Recording& data = made();
        const std::vector<std::int64_t> order = shuffled(steps / episode * (episode / slice_len));
        std::vector<std::vector<char>> targets;
        for (const at::Tensor& leaf : data.leaves)
          targets.emplace_back(static_cast<std::size_t>(slice_count * slice_len) * leaf.nbytes() /
                               steps);
        std::size_t k = 0;
        for (auto _ : state) {
          if (k + slice_count > order.size()) k = 0;
          for (std::size_t i = 0; i < targets.size(); ++i) {
            const std::size_t row = data.leaves[i].nbytes() / steps;
            const char* source = static_cast<const char*>(data.leaves[i].data_ptr());
            for (std::size_t s = 0; s < slice_count; ++s) {
              const std::int64_t first = order[k + s] / (episode / slice_len) * episode +
                                         order[k + s] % (episode / slice_len) * slice_len;
              std::memcpy(targets[i].data() + s * slice_len * row,
                          source + static_cast<std::size_t>(first) * row, slice_len * row);
            }
          }
          k += slice_count;
          benchmark::ClobberMemory();
        }
      });
}

void register_loader_large(const td_tensordict* images, std::int64_t rows, std::int64_t row_floats,
                           const std::string& dir) {
  const std::int64_t batch = 256;
  figure("loader: 256 rows of 12 KiB, mapped, 2 workers", 1, 1.15,
         loads(images, shuffle_of(batch, 2)),
         [images, rows, row_floats, batch](benchmark::State& state) {
           const std::vector<std::int64_t> order = shuffled(rows);
           std::vector<float> target(static_cast<std::size_t>(batch * row_floats));
           const float* source = memory_of(images, "image");
           std::size_t k = 0;
           const auto copy = [&](std::int64_t from, std::int64_t to) {
             for (std::int64_t i = from; i < to; ++i) {
               std::memcpy(target.data() + i * row_floats,
                           source + order[k + static_cast<std::size_t>(i)] * row_floats,
                           static_cast<std::size_t>(row_floats) * 4);
             }
           };
           Helper helper([&] { copy(0, batch / 2); });
           for (auto _ : state) {
             if (k + static_cast<std::size_t>(batch) > order.size()) k = 0;
             helper.begin();
             copy(batch / 2, batch);
             helper.wait();
             k += static_cast<std::size_t>(batch);
             benchmark::ClobberMemory();
           }
         });

  // 1.2 GB of small rows: 10 leaves of 10 numbers.
  const std::int64_t small_rows = rows * row_floats / 100;
  td_tensordict *sample = nullptr, *expanded = nullptr, *data = nullptr;
  const std::int64_t ten = 10;
  ok(td_create(nullptr, 0, TD_DEVICE_NONE, -1, &sample));
  for (int i = 0; i < 10; ++i) {
    const std::string name = "leaf_" + std::to_string(i);
    const char* path = name.c_str();
    td_tensor* zeros = nullptr;
    ok(td_tensor_zeros(&ten, 1, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &zeros));
    ok(td_set(sample, &path, 1, zeros));
    td_tensor_free(zeros);
  }
  ok(td_expand(sample, &small_rows, 1, &expanded));
  ok(td_memmap_like(expanded, (dir + "_small").c_str(), nullptr, &data));
  td_free(sample);
  td_free(expanded);
  for (int i = 0; i < 10; ++i) {  // every page is there
    const std::string name = "leaf_" + std::to_string(i);
    std::memset(const_cast<float*>(memory_of(data, name.c_str())), 1,
                static_cast<std::size_t>(small_rows) * 40);
  }
  figure("loader: 256 rows of 400 B in 10 tensors, mapped, 2 workers", 10, 1.2,
         loads(data, shuffle_of(batch, 2)), [data, small_rows, batch](benchmark::State& state) {
           const std::vector<std::int64_t> order = shuffled(small_rows);
           std::vector<td_tensor*> indices;
           for (std::size_t k = 0; k + static_cast<std::size_t>(batch) <= order.size();
                k += static_cast<std::size_t>(batch)) {
             td_tensor* index = nullptr;
             ok(td_tensor_from_data(order.data() + k, static_cast<std::size_t>(batch) * 8, &batch,
                                    1, TD_DTYPE_INT64, &index));
             indices.push_back(index);
           }
           std::size_t k = 0;
           for (auto _ : state) {
             td_index_item at{};
             at.kind = TD_INDEX_TENSOR;
             at.tensor = indices[k++ % indices.size()];
             td_tensordict* result = nullptr;
             ok(td_index(data, &at, 1, &result));
             td_free(result);
           }
           for (td_tensor* index : indices) td_tensor_free(index);
         });
}

}  // namespace bench
