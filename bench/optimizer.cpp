// A step of Adam over small parameters, against libtorch's own.
#include "fixture.h"

#include <torch/optim/adam.h>

#include <memory>

namespace bench {

namespace {

constexpr int params = 20;

td_tensordict* dict_of(const std::vector<at::Tensor>& tensors, bool trained) {
  td_tensordict* td = nullptr;
  ok(td_create(nullptr, 0, TD_DEVICE_NONE, -1, &td));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = "p" + std::to_string(i);
    const char* const path[] = {name.c_str()};
    td_tensor* handle = wrap(tensors[i]);
    if (trained) ok(td_tensor_set_requires_grad(handle, 1));
    ok(td_set(td, path, 1, handle));
    td_tensor_free(handle);
  }
  return td;
}

// {"p0": float32 [64, 8], "p1": [64], …}, with gradients.
struct Trained {
  Trained() {
    for (int i = 0; i < params; ++i) {
      own.push_back(i % 2 == 0 ? at::randn({64, 8}) : at::randn({64}));
      gradients.push_back(at::randn(own.back().sizes()));
      tensors.push_back(own.back().clone().requires_grad_());
      tensors.back().mutable_grad() = gradients.back();
    }
    td = dict_of(own, true);
    td_tensordict* given = dict_of(gradients, false);
    ok(td_set_grad(td, given));
    td_free(given);
    ok(td_optimizer_create(td, TD_OPTIMIZER_ADAM, nullptr, &optimizer));
    theirs = std::make_unique<torch::optim::Adam>(tensors);
  }
  ~Trained() {
    td_optimizer_free(optimizer);
    td_free(td);
  }
  Trained(const Trained&) = delete;
  Trained& operator=(const Trained&) = delete;

  td_tensordict* td = nullptr;
  td_optimizer* optimizer = nullptr;
  std::vector<at::Tensor> own, gradients, tensors;
  std::unique_ptr<torch::optim::Adam> theirs;
};

}  // namespace

void register_optimizer() {
  const auto trained = std::make_shared<Trained>();
  figure(
      "Adam step, 20 small parameters", params, 0.5,
      [trained](benchmark::State& state) {
        for (auto _ : state) ok(td_optimizer_step(trained->optimizer));
      },
      [trained](benchmark::State& state) {
        for (auto _ : state) trained->theirs->step();
      });
}

}  // namespace bench
