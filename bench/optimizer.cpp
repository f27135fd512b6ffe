// A step of Adam over small parameters, against libtorch's own.
#include "trained.h"

namespace bench {

namespace {

constexpr int params = 20;

td_tensordict* dict_of(const std::vector<at::Tensor>& tensors) {
  td_tensordict* td = nullptr;
  ok(td_create(nullptr, 0, TD_DEVICE_NONE, -1, &td));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = "p" + std::to_string(i);
    const char* const path[] = {name.c_str()};
    td_tensor* handle = wrap(tensors[i]);
    ok(td_set(td, path, 1, handle));
    td_tensor_free(handle);
  }
  return td;
}

// {"p0": float32 [64, 8], "p1": [64], …}, with gradients.
std::shared_ptr<Trained> small_parameters() {
  std::vector<at::Tensor> own, gradients, theirs;
  for (int i = 0; i < params; ++i) {
    own.push_back(i % 2 == 0 ? at::randn({64, 8}) : at::randn({64}));
    gradients.push_back(at::randn(own.back().sizes()));
    theirs.push_back(trained_copy(own.back(), gradients.back()));
  }
  td_tensordict* given = dict_of(gradients);
  auto trained = std::make_shared<Trained>(dict_of(own), given, std::move(theirs));
  td_free(given);
  trained->borrowed = std::move(own);
  trained->borrowed.insert(trained->borrowed.end(), gradients.begin(), gradients.end());
  return trained;
}

}  // namespace

void register_optimizer() {
  step_figure("Adam step, 20 small parameters", params, 0.5, small_parameters(), [] {});
}

}  // namespace bench
