// core/nn/optimizer_engine.h: one of libtorch's optimisers, with its state by parameter. Internal.
#pragma once

#include "core/nn/key_path.h"
#include "core/nn/optimizer.h"

#include <torch/optim/optimizer.h>

#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace td {

using TorchOptimizer = torch::optim::Optimizer;
using States = std::remove_reference_t<decltype(std::declval<TorchOptimizer&>().state())>;
using StatePtr = std::unique_ptr<torch::optim::OptimizerParamState>;

// A tensor that requires gradients, with the first path to it.
struct OptimizedParam {
  KeyPath path;
  at::Tensor tensor;
};

// libtorch's key for a parameter's state: its address, as text before 2.0.
template <class Key>
Key key_of(const at::Tensor& tensor) {
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream text;
    text << tensor.unsafeGetTensorImpl();
    return text.str();
  } else {
    return tensor.unsafeGetTensorImpl();
  }
}

class Optimizer::Engine {
 public:
  explicit Engine(std::vector<OptimizedParam> params) : params_(std::move(params)) {}
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::vector<OptimizedParam>& params() const noexcept { return params_; }
  virtual TorchOptimizer& torch() noexcept = 0;
  virtual void step() = 0;

  // The state of one parameter.
  virtual NodePtr show(torch::optim::OptimizerParamState& state) const = 0;
  virtual StatePtr read(const TensorDict& state, const OptimizedParam& param) const = 0;

  torch::optim::OptimizerParamState* state_of(const OptimizedParam& param) {
    States& states = torch().state();
    const auto found = states.find(key_of<typename States::key_type>(param.tensor));
    return found == states.end() ? nullptr : found->second.get();
  }

 private:
  std::vector<OptimizedParam> params_;
};

// `options` were checked.
std::unique_ptr<Optimizer::Engine> make_engine(std::vector<OptimizedParam> params,
                                               const OptimizerOptions& options);

}  // namespace td
