#include "core/nn/optimizer_engine.h"

#include "core/tensor/bundle.h"
#include "core/tensor/dtype.h"
#include "core/tensor/memory_ranges.h"
#include "core/tensor/torch_compat.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>
#include <c10/util/ScopeExit.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

namespace td {

namespace {

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

at::Tensor field_in(const TensorDict& state, const OptimizedParam& param, const char* name) {
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
std::int64_t steps_in(const TensorDict& state, const OptimizedParam& param) {
  const KeyPath path = below(param.path, "step");
  const at::Tensor found = state.get(path);
  const bool is_number =
      found.numel() == 1 && !found.is_complex() && found.scalar_type() != at::kBool;
  if (!is_number) {
    fail(Code::shape, show_path(path), " has dtype ", dtype_name(found.scalar_type()),
         " and shape ", show_sizes(found.sizes()), ", and a number of steps is one number");
  }
  const double number = found.item().toDouble();
  if (!(number >= 0 && number <= 9007199254740992.0 && number == std::floor(number)))
    fail(Code::invalid_argument, show_path(path), " is ", number, ", which is no number of steps");
  return static_cast<std::int64_t>(number);
}

std::vector<at::Tensor> tensors_of(const std::vector<OptimizedParam>& params) {
  std::vector<at::Tensor> result;
  result.reserve(params.size());
  for (const OptimizedParam& param : params) result.push_back(param.tensor);
  return result;
}

template <class Torch, class State>
class EngineOf final : public Optimizer::Engine {
 public:
  template <class Options>
  EngineOf(std::vector<OptimizedParam> params, const Options& options, bool amsgrad)
      : Engine(std::move(params)), torch_(tensors_of(this->params()), options), amsgrad_(amsgrad) {}

  TorchOptimizer& torch() noexcept override { return torch_; }

  // libtorch needs some ten calls for each parameter: small ones go through its optimiser side by side, as one.
  void step() override {
    std::vector<Side> sides = side_by_side();
    std::vector<at::Tensor> stepped = alone(sides);
    auto& params = torch_.param_groups().front().params();
    params.swap(stepped);
    const auto restore = c10::make_scope_exit([&] {
      params.swap(stepped);
      for (const Side& side : sides) torch_.state().erase(side.key);
    });
    for (Side& side : sides) {
      gather(side);
      params.push_back(side.values);
    }
    torch_.step();
    for (Side& side : sides) prepare(side);
    for (const Side& side : sides) scatter(side);
  }

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

  StatePtr read(const TensorDict& state, const OptimizedParam& param) const override {
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
  using Key = typename States::key_type;

  struct Side {
    Bundle bundle;
    std::vector<const OptimizedParam*> params;
    std::vector<State*> states;  // what the optimiser remembers of each; nullptr: nothing yet
    at::Tensor values;
    Key key{};  // of their state together
  };

  State* own_state(const OptimizedParam& param) {
    return static_cast<State*>(this->state_of(param));
  }

  // The tensors of a state, in one order.
  using Fields = c10::SmallVector<at::Tensor*, 3>;
  Fields fields(State& state) const {
    Fields result;
    each_field(state, amsgrad_,
               [&](const char*, at::Tensor& tensor) { result.push_back(&tensor); });
    return result;
  }

  // Whether parameter, gradient and state are small and of one form.
  bool is_small(const OptimizedParam& param, State* state) const {
    const at::Tensor &tensor = param.tensor, &gradient = tensor.grad();
    const auto like = [&](const at::Tensor& other) {
      return Bundle::suits(other) && other.scalar_type() == tensor.scalar_type() &&
             other.sizes() == tensor.sizes() && other.device() == tensor.device();
    };
    if (!tensor.is_floating_point() || !gradient.defined() || !like(tensor) || !like(gradient))
      return false;
    if (state == nullptr) return true;
    const Fields own = fields(*state);
    return std::all_of(own.begin(), own.end(),
                       [&](const at::Tensor* field) { return like(*field); });
  }

  static bool alike(State* one, State* other) {
    if ((one == nullptr) != (other == nullptr)) return false;
    if constexpr (counts_steps<State>) return one == nullptr || one->step() == other->step();
    return true;
  }

  std::vector<Side> side_by_side() {
    std::vector<Side> sides;
    if (!fast::can_skip_dispatcher()) return sides;
    MemoryRanges ranges;
    for (const OptimizedParam& param : this->params()) ranges.add(range_of(param.tensor));
    ranges.sort();
    if (ranges.meet_each_other()) return sides;
    for (const OptimizedParam& param : this->params()) {
      State* const state = own_state(param);
      if (!is_small(param, state)) continue;
      // From the last one: those before are full.
      const auto found = std::find_if(sides.rbegin(), sides.rend(), [&](const Side& side) {
        return side.bundle.has_room(param.tensor) && alike(side.states[0], state);
      });
      Side& side = found != sides.rend()
                       ? *found
                       : sides.emplace_back(Side{Bundle(param.tensor), {}, {}, {}, {}});
      side.bundle.add(param.tensor);
      side.params.push_back(&param);
      side.states.push_back(state);
    }
    const auto few = [](const Side& side) { return side.params.size() < Bundle::few; };
    sides.erase(std::remove_if(sides.begin(), sides.end(), few), sides.end());
    return sides;
  }

  // The parameters that are in none of them.
  std::vector<at::Tensor> alone(const std::vector<Side>& sides) const {
    std::unordered_set<const OptimizedParam*> taken;
    for (const Side& side : sides) taken.insert(side.params.begin(), side.params.end());
    std::vector<at::Tensor> result;
    for (const OptimizedParam& param : this->params())
      if (taken.count(&param) == 0) result.push_back(param.tensor);
    return result;
  }

  // Makes one parameter of many.
  void gather(Side& side) {
    side.values = side.bundle.gather(
        [&](std::size_t i) -> const at::Tensor& { return side.params[i]->tensor; });
    side.key = key_of<Key>(side.values);
    side.values.mutable_grad() = side.bundle.gather(
        [&](std::size_t i) -> const at::Tensor& { return side.params[i]->tensor.grad(); });
    if (side.states[0] != nullptr) {
      auto state = std::make_unique<State>(*side.states[0]);
      const Fields to = fields(*state);
      for (std::size_t k = 0; k < to.size(); ++k) {
        *to[k] = side.bundle.gather(
            [&](std::size_t i) -> const at::Tensor& { return *fields(*side.states[i])[k]; });
      }
      torch_.state()[side.key] = std::move(state);
    }
  }

  State* state_of_side(const Side& side) {
    const auto found = torch_.state().find(side.key);
    return found == torch_.state().end() ? nullptr : static_cast<State*>(found->second.get());
  }

  // Makes the states that a first step leaves.
  void prepare(Side& side) {
    if (side.states[0] != nullptr || state_of_side(side) == nullptr) return;
    for (std::size_t i = 0; i < side.params.size(); ++i) {
      const at::Tensor& tensor = side.params[i]->tensor;
      auto state = std::make_unique<State>();
      for (at::Tensor* field : fields(*state)) *field = at::zeros_like(tensor);
      side.states[i] = state.get();
      torch_.state()[key_of<Key>(tensor)] = std::move(state);
    }
  }

  void scatter(const Side& side) {
    side.bundle.scatter(side.values,
                        [&](std::size_t i) -> const at::Tensor& { return side.params[i]->tensor; });
    State* const state = state_of_side(side);
    if (state == nullptr) return;
    const Fields from = fields(*state);
    for (std::size_t k = 0; k < from.size(); ++k) {
      side.bundle.scatter(*from[k], [&](std::size_t i) -> const at::Tensor& {
        return *fields(*side.states[i])[k];
      });
    }
    if constexpr (counts_steps<State>)
      for (State* own : side.states) own->step(state->step());
  }

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

}  // namespace

std::unique_ptr<Optimizer::Engine> make_engine(std::vector<OptimizedParam> params,
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

}  // namespace td
