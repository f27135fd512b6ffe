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

// Keeps the tensors of the dictionary that require gradients, not the dictionary. A tensor that stands in
// several places is one parameter. Not for several threads at once.
class Optimizer {
 public:
  // Throws Code::invalid_argument (a number out of range, no tensor requires gradients), Code::torch (one
  // of them was computed from others), Code::unsupported (complex or nested ones).
  Optimizer(const TensorDict& params, const OptimizerOptions& options);
  ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // One update of the parameters that have a gradient. Whatever fails has changed none of them.
  void step();

  void zero_grad(bool set_to_none);

  double lr() const noexcept;
  void set_lr(double lr);

  // What the optimiser remembers of its parameters: a dictionary for each, in the place of the parameter;
  // the optimiser's own tensors. Empty before the first step.
  TensorDict state() const;

  // A copy of a state, in place of the own one. Throws Code::key_not_found, key_invalid, wrong_entry,
  // shape, dtype.
  void load_state(const TensorDict& state);

  class Engine;  // of one kind

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace td
