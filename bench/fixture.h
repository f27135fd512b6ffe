// fixture.h: the data that every figure is measured on, once as a dictionary behind the C ABI and once
// as what a libtorch user would have without one: a vector of tensors.
#pragma once

#include "tensordict/td.h"

#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

// Stops the program with the library's message when a call fails.
void ok(td_status status);

void require(bool truth);  // stops the program otherwise

// A place of this process in a folder, or in the one for temporary files.
std::string scratch(const std::string& name, const std::filesystem::path& where = {});

// Float32 leaves of shape [64, 8], half of them on the first level, half in a nested dictionary.
struct Leaves {
  explicit Leaves(int count, std::vector<std::int64_t> sizes = {64, 8},
                  std::ptrdiff_t batch_dims = 1);
  ~Leaves();
  Leaves(const Leaves&) = delete;
  Leaves& operator=(const Leaves&) = delete;

  td_tensordict* td = nullptr;
  std::vector<at::Tensor> tensors;  // the same memory
  std::vector<std::string> names;   // "leaf_0" …
};

using Shared = std::shared_ptr<Leaves>;

// One row of `Leaves`: shape [8] each, batch size [].
struct Row {
  explicit Row(const Leaves& leaves);
  ~Row() { td_free(td); }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  td_tensordict* td = nullptr;
  std::vector<at::Tensor> tensors;
};

// The names of one level, one after the other: what a look-up takes depends on the place of its name.
class InTurn {
 public:
  // `levels`: 1 for the names of the dictionary itself, 2 for those of the nested one.
  InTurn(const Leaves& leaves, std::size_t levels);
  const std::string& next() noexcept {
    if (++at_ == names_.size()) at_ = 0;
    return names_[at_];
  }

 private:
  std::vector<std::string> names_;
  std::size_t at_ = 0;
};

td_tensor* wrap(const at::Tensor& tensor);

// A figure: the same work by us and by hand, in the same process. `goal` is the ratio to reach; 0 for
// figures that are only printed.
// Wall-clock time, so that work on other threads counts.
using Body = std::function<void(benchmark::State&)>;
void figure(const std::string& name, int leaves, double goal, Body ours, Body theirs);

// Times a call that makes a dictionary.
template <class Call>
Body makes(Shared leaves, Call call) {
  return [leaves, call](benchmark::State& state) {
    for (auto _ : state) {
      td_tensordict* result = nullptr;
      ok(call(leaves->td, &result));
      benchmark::DoNotOptimize(result);
      td_free(result);
    }
  };
}

// Times a loop that makes one tensor for each leaf.
template <class Call>
Body loop(Shared leaves, Call call) {
  return [leaves, call](benchmark::State& state) {
    for (auto _ : state) {
      std::vector<at::Tensor> results;
      results.reserve(leaves->tensors.size());
      for (const at::Tensor& leaf : leaves->tensors) results.push_back(call(leaf));
      benchmark::DoNotOptimize(results.data());
    }
  };
}

// Calls that a figure times beside its loop, and again beside its floor.
Body indexes(Shared leaves);            // td[7]
Body indexes_and_reads(Shared leaves);  // td[7], and its first and its last tensor
Body unbinds(Shared leaves);            // into 64 parts
Body clones(Shared leaves);
Body writes_row(Shared leaves, std::shared_ptr<Row> row);  // td[9] = row
Body gets(Shared leaves, std::size_t levels);              // each tensor of a level in turn
Body sets(Shared leaves, std::size_t levels, td_tensor* value);
Body sets_and_removes(Shared leaves,
                      td_tensor* value);  // a new key: one cannot be measured without the other
Body adds(Shared leaves);                 // td + 1
Body calls_add(Shared leaves);            // td_call("aten::add") of the dictionary and itself
Body multiplies(Shared leaves);           // td * a tensor of [64]
Body adds_in_place(Shared leaves);        // td += 1
Body clamps(Shared leaves);               // td.clamp(0.25, 0.75)
Body lerps_in_place(Shared leaves, Shared end);  // td.lerp_(end, 0.005)

// Times a join of 8 dictionaries along the first dimension.
template <class Call>
Body joins(std::vector<Shared> parts, Call call) {
  return [parts, call](benchmark::State& state) {
    std::vector<const td_tensordict*> sources;
    for (const Shared& part : parts) sources.push_back(part->td);
    for (auto _ : state) {
      td_tensordict* result = nullptr;
      ok(call(sources.data(), sources.size(), 0, &result));
      td_free(result);
    }
  };
}

// Called by each file of figures.
void register_arrow();
void register_call();
void register_cuda();  // where libtorch sees a GPU
void register_disk_archive();
void register_disk();
void register_disk_grow();
void register_disk_episodes();
void register_disk_hdf5();
void register_disk_load();
void register_disk_publish();
void register_entries();
void register_floors();
void register_group();  // where libtorch has gloo
void register_lazy();
void register_loader();
void register_map();
void register_math();
void register_modules();
void register_optimizer();
void register_replay();
void register_small();
void register_store();  // where the library has a client of Redis
void register_keys_and_writer();
void register_threads();
void register_large(const std::string& dir);
// `images`: so many rows of so many numbers under "image".
void register_loader_large(const td_tensordict* images, std::int64_t rows, std::int64_t row_floats,
                           const std::string& dir);

// What td_bench does as one of the processes that register_group() starts; false in any other.
bool serve_as_rank(int argc, char** argv);

}  // namespace bench
