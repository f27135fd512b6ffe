// libtorch: a tensor for each field, each a mapped file of its full size; a row is copied into its place.
#include "peers.h"

#include <c10/core/InferenceMode.h>
#include <torch/types.h>
#include <torch/version.h>

#include <array>
#include <exception>

namespace {

std::int64_t total = 0;

at::TensorOptions type_of(const field& one) {
  return one.kind == 'f' ? torch::kFloat32 : torch::kInt32;
}

std::array<torch::Tensor, FIELDS> mapped() {
  std::array<torch::Tensor, FIELDS> all;
  for (int i = 0; i < FIELDS; i++) {
    const field& one = fields[i];
    all[i] = torch::from_file(file_named(one.name), true, total * one.count, type_of(one))
                 .view({total, one.count});
  }
  return all;
}

void write_steps(std::int64_t steps) try {
  const c10::InferenceMode no_gradients;
  total = steps;
  const auto all = mapped();
  for (std::int64_t row = 0; row < steps; row++) {
    step now = step_of(row);
    for (int i = 0; i < FIELDS; i++) {
      const field& one = fields[i];
      all[i][row].copy_(
          torch::from_blob(reinterpret_cast<char*>(&now) + one.offset, {one.count}, type_of(one)));
    }
  }
} catch (const std::exception& error) {
  give_up("libtorch", error.what());
}

double read_rows(const std::int64_t* rows, std::int64_t minibatches) try {
  const c10::InferenceMode no_gradients;
  const auto all = mapped();
  double sum = 0;
  for (std::int64_t k = 0; k < minibatches; k++) {
    const auto index = torch::from_blob(const_cast<std::int64_t*>(rows + k * MINIBATCH),
                                        {MINIBATCH}, torch::kInt64);
    std::array<torch::Tensor, FIELDS> batch;
    for (int i = 0; i < FIELDS; i++) batch[i] = all[i].index_select(0, index);
    const float *position = batch[0].data_ptr<float>(), *velocity = batch[1].data_ptr<float>(),
                *action = batch[2].data_ptr<float>(), *reward = batch[3].data_ptr<float>();
    const auto* done = batch[4].data_ptr<std::int32_t>();
    for (int i = 0; i < MINIBATCH; i++) {
      const step one = {{position[3 * i]},
                        {0, 0, velocity[3 * i + 2]},
                        {0, 0, 0, action[4 * i + 3]},
                        reward[i],
                        done[i]};
      sum += sum_of(&one, 1);
    }
  }
  return sum;
} catch (const std::exception& error) {
  give_up("libtorch", error.what());
}

}  // namespace

peer libtorch_peer = {"libtorch, copy_, index_select", TORCH_VERSION, write_steps, read_rows};
