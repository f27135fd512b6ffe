#include "core/nn/optimizer.h"

#include "core/math/gradient.h"
#include "core/nn/key_path.h"
#include "core/tensor/dtype.h"
#include "core/tensor/torch_compat.h"
#include "core/tensor/writes.h"
#include "core/tree/kinds.h"
#include "core/tree/show_leaf.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <set>
#include <sstream>
#include <type_traits>
#include <unordered_set>

namespace td {

namespace {

using TorchOptimizer = torch::optim::Optimizer;
using States = std::remove_reference_t<decltype(std::declval<TorchOptimizer&>().state())>;
using StatePtr = std::unique_ptr<torch::optim::OptimizerParamState>;

struct Param {
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

// Calls `f(name, tensor)` for each tensor of a state.
template <class F>
void each_field(torch::optim::SGDParamState& state, bool, F&& f) {
  f("momentum_buffer", state.momentum_buffer());
}

template <class Adam, class F>
void each_field(Adam& state, bool amsgrad, F&& f) {
  f("exp_avg", state.exp_avg());
  f("exp_avg_sq", state.exp_avg_sq());
  if (amsgrad) f("max_exp_avg_sq", state.max_exp_avg_sq());
}

template <class State>
constexpr bool counts_steps = !std::is_same_v<State, torch::optim::SGDParamState>;

KeyPath below(const KeyPath& path, std::string name) {
  std::vector<std::string> names = path.names();
  names.push_back(std::move(name));
  return KeyPath(std::move(names));
}

at::Tensor field_in(const TensorDict& state, const Param& param, const char* name) {
  const at::Tensor found = state.get(below(param.path, name));
  if (found.sizes() != param.tensor.sizes()) {
    fail(Code::shape, show_path(below(param.path, name)), " has shape ", show_sizes(found.sizes()),
         ", its parameter ", show_sizes(param.tensor.sizes()));
  }
  if (!c10::isFloatingType(found.scalar_type())) {
    fail(Code::dtype, show_path(below(param.path, name)), " is of ",
         dtype_name(found.scalar_type()), ", which is no floating-point dtype");
  }
  return found.detach().to(param.tensor.options(), /*non_blocking=*/false, /*copy=*/true);
}

// Python stores the number of steps as a float.
std::int64_t steps_in(const TensorDict& state, const Param& param) {
  const KeyPath path = below(param.path, "step");
  const at::Tensor found = state.get(path);
  const double number =
      found.numel() == 1 && !found.is_complex() ? found.item().toDouble() : std::nan("");
  if (!(number >= 0 && number <= 9007199254740992.0 && number == std::floor(number)))
    fail(Code::shape, show_path(path), " is not a number of steps");
  return static_cast<std::int64_t>(number);
}

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
std::vector<Param> params_in(const TensorDict& params) {
  std::vector<Param> result;
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

std::vector<at::Tensor> tensors_of(const std::vector<Param>& params) {
  std::vector<at::Tensor> result;
  result.reserve(params.size());
  for (const Param& param : params) result.push_back(param.tensor);
  return result;
}

}  // namespace

class Optimizer::Engine {
 public:
  explicit Engine(std::vector<Param> params) : params_(std::move(params)) {}
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::vector<Param>& params() const noexcept { return params_; }
  virtual TorchOptimizer& torch() noexcept = 0;

  // The state of one parameter.
  virtual NodePtr show(torch::optim::OptimizerParamState& state) const = 0;
  virtual StatePtr read(const TensorDict& state, const Param& param) const = 0;

  torch::optim::OptimizerParamState* state_of(const Param& param) {
    States& states = torch().state();
    const auto found = states.find(key_of<typename States::key_type>(param.tensor));
    return found == states.end() ? nullptr : found->second.get();
  }

 private:
  std::vector<Param> params_;
};

namespace {

template <class Torch, class State>
class EngineOf final : public Optimizer::Engine {
 public:
  template <class Options>
  EngineOf(std::vector<Param> params, const Options& options, bool amsgrad)
      : Engine(std::move(params)), torch_(tensors_of(this->params()), options), amsgrad_(amsgrad) {}

  TorchOptimizer& torch() noexcept override { return torch_; }

  NodePtr show(torch::optim::OptimizerParamState& state) const override {
    auto node = c10::make_intrusive<DenseNode>(SizesView(), std::nullopt);
    auto& own = static_cast<State&>(state);
    if constexpr (counts_steps<State>)
      node->put("step", Value(at::scalar_tensor(own.step(), at::kLong)));
    each_field(own, amsgrad_, [&](const char* name, const at::Tensor& tensor) {
      if (tensor.defined()) node->put(name, Value(tensor));
    });
    return node;
  }

  StatePtr read(const TensorDict& state, const Param& param) const override {
    auto own = std::make_unique<State>();
    std::set<std::string> known;
    if constexpr (counts_steps<State>) {
      own->step(steps_in(state, param));
      known.insert("step");
    }
    each_field(*own, amsgrad_, [&](const char* name, at::Tensor& tensor) {
      tensor = field_in(state, param, name);
      known.insert(name);
    });
    visit_paths(*state.get_dict(param.path).node(), [&](Path path, const Value&) {
      if (path.size() == 1 && known.count(std::string(path[0])) != 0) return;
      fail(Code::key_invalid, show_path(below(param.path, std::string(path[0]))),
           " is nothing that this kind of optimiser remembers");
    });
    return own;
  }

 private:
  Torch torch_;
  const bool amsgrad_;
};

template <class Options>
Options adam_options(const OptimizerOptions& options) {
  return Options(options.lr)
      .betas({options.beta1, options.beta2})
      .eps(options.eps)
      .weight_decay(options.weight_decay)
      .amsgrad(options.amsgrad);
}

std::unique_ptr<Optimizer::Engine> make_engine(std::vector<Param> params,
                                               const OptimizerOptions& options) {
  namespace optim = torch::optim;
  switch (options.kind) {
    case OptimizerKind::adam:
      return std::make_unique<EngineOf<optim::Adam, optim::AdamParamState>>(
          std::move(params), adam_options<optim::AdamOptions>(options), options.amsgrad);
    case OptimizerKind::adamw:
      return std::make_unique<EngineOf<optim::AdamW, optim::AdamWParamState>>(
          std::move(params), adam_options<optim::AdamWOptions>(options), options.amsgrad);
    case OptimizerKind::sgd: break;
  }
  return std::make_unique<EngineOf<optim::SGD, optim::SGDParamState>>(
      std::move(params),
      optim::SGDOptions(options.lr)
          .momentum(options.momentum)
          .dampening(options.dampening)
          .weight_decay(options.weight_decay)
          .nesterov(options.nesterov),
      false);
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
  for (const Param& param : engine_->params()) {
    const at::Tensor& gradient = param.tensor.grad();
    if (!gradient.defined()) continue;
    if (gradient.layout() != at::kStrided)
      fail(Code::unsupported, "the gradient of ", show_path(param.path), " is sparse");
    writes.compute(param.path, param.tensor, gradient);
  }
  engine_->torch().step();
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const Param& param : engine_->params()) zero_gradient(param.tensor, set_to_none);
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
  for (const Param& param : engine_->params()) {
    if (auto* state = engine_->state_of(param))
      result.set(param.path, TensorDict(engine_->show(*state)));
  }
  return result;
}

void Optimizer::load_state(const TensorDict& state) {
  States states;
  std::set<std::vector<std::string>> known;
  for (const Param& param : engine_->params()) {
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
