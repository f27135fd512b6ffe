// trained.h: a dictionary and an optimiser of ours, and libtorch's Adam over tensors of the same values.
#pragma once

#include "fixture.h"

#include <torch/optim/adam.h>

#include <memory>
#include <utility>
#include <vector>

namespace bench {

struct Trained {
  // Takes `own`, whose tensors get gradients; `given` is borrowed. `theirs_own` have theirs.
  Trained(td_tensordict* own, const td_tensordict* given, std::vector<at::Tensor> theirs_own)
      : td(own), theirs(std::move(theirs_own)) {
    ok(td_set_requires_grad(td, 1));
    ok(td_set_grad(td, given));
    ok(td_optimizer_create(td, TD_OPTIMIZER_ADAM, nullptr, &optimizer));
  }
  ~Trained() {
    td_optimizer_free(optimizer);
    td_free(td);
  }
  Trained(const Trained&) = delete;
  Trained& operator=(const Trained&) = delete;

  td_tensordict* td;
  td_optimizer* optimizer = nullptr;
  torch::optim::Adam theirs;
  // Whose memory `td` and its gradients have, if it is not their own.
  std::vector<at::Tensor> borrowed;
};

// A tensor of the same values to train, with its gradient.
inline at::Tensor trained_copy(const at::Tensor& values, const at::Tensor& gradient) {
  at::Tensor copy = values.clone().requires_grad_();
  copy.mutable_grad() = gradient;
  return copy;
}

// A step of both; `after` is called behind each, for a device that computes on its own.
template <class After>
void step_figure(const std::string& name, int leaves, double goal, std::shared_ptr<Trained> trained,
                 After after) {
  figure(
      name, leaves, goal,
      [trained, after](benchmark::State& state) {
        for (auto _ : state) {
          ok(td_optimizer_step(trained->optimizer));
          after();
        }
      },
      [trained, after](benchmark::State& state) {
        for (auto _ : state) {
          trained->theirs.step();
          after();
        }
      });
}

}  // namespace bench
