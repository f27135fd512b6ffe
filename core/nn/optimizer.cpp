#include "core/nn/optimizer_engine.h"

#include "core/math/gradient.h"
#include "core/tensor/writes.h"
#include "core/tree/kinds.h"
#include "core/tree/show_leaf.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>
#include <set>
#include <unordered_set>

namespace td {

namespace {

void check_number(const char* name, double number, double past) {
  if (number >= 0 && number < past) return;
  fail(Code::invalid_argument, name, " is ", number, "; it must be at least 0",
       past == 1.0 ? " and below 1" : " and finite");
}

void check(const OptimizerOptions& options) {
  const double any = std::numeric_limits<double>::infinity();
  check_number("lr", options.lr, any);
  check_number("weight_decay", options.weight_decay, any);
  if (options.kind != OptimizerKind::sgd) {
    check_number("beta1", options.beta1, 1.0);
    check_number("beta2", options.beta2, 1.0);
    check_number("eps", options.eps, any);
    return;
  }
  check_number("momentum", options.momentum, any);
  check_number("dampening", options.dampening, any);
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0))
    fail(Code::invalid_argument, "Nesterov momentum needs a momentum and no dampening");
}

// The tensors that require gradients, each with the first path to it.
std::vector<OptimizedParam> params_in(const TensorDict& params) {
  std::vector<OptimizedParam> result;
  std::unordered_set<const void*> met;
  visit_paths(*params.node(), [&](Path path, const Value& value) {
    if (value.is_node() || !value.tensor().requires_grad()) return;
    const at::Tensor& tensor = value.tensor();
    if (!met.insert(tensor.unsafeGetTensorImpl()).second) return;
    if (!tensor.is_leaf()) {
      fail(Code::torch, show_path(path),
           " was computed from other tensors: only those that gradients end at are parameters");
    }
    if (tensor.is_complex()) {
      fail(Code::unsupported, show_path(path),
           " is complex: libtorch's optimisers know real numbers");
    }
    result.push_back({KeyPath(path), tensor});
  });
  visit_values(*params.node(), [&](const Value& value) {
    if (value.is_node() || !value.tensor().requires_grad()) return;
    if (met.count(value.tensor().unsafeGetTensorImpl()) != 0) return;
    fail(Code::unsupported, show_leaf(*params.node(), value.tensor()),
         " lies in a lazy stack or a sub-tensordict: parameters are the tensors that a dictionary "
         "holds itself");
  });
  if (result.empty()) {
    fail(Code::invalid_argument,
         "no tensor requires gradients: td_set_requires_grad switches them on");
  }
  return result;
}

}  // namespace

Optimizer::Optimizer(const TensorDict& params, const OptimizerOptions& options) {
  check(options);
  engine_ = make_engine(params_in(params), options);
}

Optimizer::~Optimizer() = default;

void Optimizer::step() {
  const at::NoGradGuard no_grad;
  Writes writes(
      Writes::Hold::owns);  // only for its checks: libtorch writes the parameters one by one
  for (const OptimizedParam& param : engine_->params()) {
    const at::Tensor& gradient = param.tensor.grad();
    if (!gradient.defined()) continue;
    if (gradient.layout() != at::kStrided)
      fail(Code::unsupported, "the gradient of ", show_path(param.path), " is sparse");
    writes.compute(param.path, param.tensor, gradient);
  }
  engine_->step();
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const OptimizedParam& param : engine_->params()) zero_gradient(param.tensor, set_to_none);
}

double Optimizer::lr() const noexcept {
  return engine_->torch().param_groups().front().options().get_lr();
}

void Optimizer::set_lr(double lr) {
  check_number("lr", lr, std::numeric_limits<double>::infinity());
  for (auto& group : engine_->torch().param_groups()) group.options().set_lr(lr);
}

TensorDict Optimizer::state() const {
  TensorDict result;
  for (const OptimizedParam& param : engine_->params()) {
    if (auto* state = engine_->state_of(param))
      result.set(param.path, TensorDict(engine_->show(*state)));
  }
  return result;
}

void Optimizer::load_state(const TensorDict& state) {
  States states;
  std::set<std::vector<std::string>> known;
  for (const OptimizedParam& param : engine_->params()) {
    const EntryKind kind = state.kind_of(param.path);
    if (kind == EntryKind::none) continue;
    known.insert(param.path.names());
    states[key_of<typename States::key_type>(param.tensor)] = engine_->read(state, param);
  }
  visit_paths(*state.node(), [&](Path path, const Value& value) {
    if (is_dict(value)) return;
    const KeyPath place(path.slice(0, path.size() - 1));
    if (known.count(place.names()) == 0)
      fail(Code::key_invalid, show_path(path), " belongs to no parameter of this optimiser");
  });
  engine_->torch().state().swap(states);
}

}  // namespace td
