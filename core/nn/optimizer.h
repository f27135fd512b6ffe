// core/nn/optimizer.h: libtorch's optimisers over a dictionary of parameters.
#pragma once

#include "core/base/key.h"
#include "core/tree/tensordict.h"

#include <memory>
#include <string>

namespace td {

enum class OptimizerKind { sgd, adam, adamw };

struct OptimizerOptions {
  explicit OptimizerOptions(OptimizerKind kind)
      : kind(kind), weight_decay(kind == OptimizerKind::adamw ? 1e-2 : 0) {}

  OptimizerKind kind;
  double lr = 1e-3;
  double weight_decay;
  double momentum = 0, dampening = 0;  // SGD
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  // Adam and AdamW
  bool amsgrad = false;
};

// Keeps the tensors that require gradients, not the dictionary. A tensor that occurs in several places is one
// parameter. Not thread-safe.
class Optimizer {
 public:
  // Throws Code::invalid_argument (a number out of range; no tensor requires gradients), Code::torch (a
  // tensor is not a leaf of autograd), Code::unsupported (complex or nested tensors).
  Optimizer(const TensorDict& params, const OptimizerOptions& options);
  ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Updates the parameters that have gradients; all or none of them.
  void step();

  void zero_grad(bool set_to_none);

  double lr() const noexcept;
  void set_lr(double lr);

  // The optimiser's state: a dictionary in place of each parameter, holding the optimiser's own tensors.
  // Empty before the first step.
  TensorDict state() const;

  // Replaces the state by a copy of this one. Throws Code::key_not_found, key_invalid, wrong_entry, shape,
  // dtype.
  void load_state(const TensorDict& state);

  class Engine;  // one optimiser algorithm

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace td
