// Modules over dictionaries, against the calls that they stand for with tensors in hand.
#include "fixture.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <memory>

namespace bench {

namespace {

const std::string archive = TD_BENCH_MODULES "/mlp.pt";

td_module* loaded(td_module_load_flags flags = 0) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  options.flags = flags;
  td_module* module = nullptr;
  ok(td_module_load(archive.c_str(), &options, &module));
  return module;
}

// A policy, an observation, and the same by hand. Lives until the program ends.
struct Policy {
  explicit Policy(std::int64_t batch)
      : module(loaded()),
        frozen(loaded(TD_MODULE_LOAD_FREEZE)),
        script(torch::jit::load(archive)),
        observation(at::rand({batch, 4})) {
    ok(td_create(&batch, 1, TD_DEVICE_NONE, -1, &td));
    const char* const name = "observation";
    td_tensor* tensor = wrap(observation);
    ok(td_set(td, &name, 1, tensor));
    td_tensor_free(tensor);
  }
  td_module *module, *frozen;
  torch::jit::Module script;
  at::Tensor observation;
  td_tensordict* td = nullptr;
};

Body inplace(std::shared_ptr<Policy> policy, td_module* module) {
  return [policy, module](benchmark::State& state) {
    for (auto _ : state) ok(td_module_call_inplace(policy->td, module, nullptr));
  };
}

Body by_hand(std::shared_ptr<Policy> policy, int times = 1) {
  return [policy, times](benchmark::State& state) {
    for (auto _ : state) {
      for (int i = 0; i < times; ++i) {
        at::Tensor action = policy->script.forward({policy->observation}).toTensor();
        benchmark::DoNotOptimize(action);
      }
    }
  };
}

Body with_params(std::shared_ptr<Policy> policy, std::vector<td_tensordict*> sets) {
  return [policy, sets](benchmark::State& state) {
    td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
    for (auto _ : state) {
      for (td_tensordict* one : sets) {
        td_tensordict* result = nullptr;
        options.params = one;
        ok(td_module_call(policy->td, policy->module, &options, &result));
        td_free(result);
      }
    }
  };
}

void register_ensemble(const std::shared_ptr<Policy>& policy) {
  constexpr std::size_t members = 10;
  td_tensordict *params = nullptr, *all = nullptr;
  ok(td_module_params(policy->module, &params));
  const std::vector<const td_tensordict*> same(members, params);
  ok(td_stack(same.data(), members, 0, &all));
  const std::vector<td_tensordict*> loop(members, params);
  figure("module: ensemble of 10 by vmap", 6, 0.5, with_params(policy, {all}),
         with_params(policy, loop));
  figure(
      "module: swap of 6 parameters", 6, 0,
      [policy, params](benchmark::State& state) {
        for (auto _ : state) ok(td_module_set_params(policy->module, nullptr, params));
      },
      [](benchmark::State& state) {
        for (auto _ : state) benchmark::DoNotOptimize(at::empty({1}));
      });
}

void register_sampling() {
  const std::int64_t batch = 64;
  auto loc = at::rand({batch, 2}), scale = at::rand({batch, 2}) + 0.5;
  td_tensordict* td = nullptr;
  ok(td_create(&batch, 1, TD_DEVICE_NONE, -1, &td));
  const char* const names[] = {"loc", "scale", "action"};
  for (int i = 0; i < 2; ++i) {
    td_tensor* tensor = wrap(i == 0 ? loc : scale);
    ok(td_set(td, names + i, 1, tensor));
    td_tensor_free(tensor);
  }
  const td_key in_keys[] = {{names, 1}, {names + 1, 1}}, out_key = {names + 2, 1};
  td_distribution part{};
  part.in_keys = in_keys;
  part.in_keys_len = 2;
  part.out_key = &out_key;
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  options.flags = TD_MODULE_PROBABILISTIC_LOG_PROB;
  options.interaction = TD_INTERACTION_RANDOM;
  td_module* module = nullptr;
  ok(td_module_probabilistic(&part, 1, &options, &module));
  figure(
      "module: Normal with log-probability", 2, 1.1,
      [td, module](benchmark::State& state) {
        for (auto _ : state) ok(td_module_call_inplace(td, module, nullptr));
      },
      [loc, scale](benchmark::State& state) {
        for (auto _ : state) {
          const at::Tensor value = loc + at::randn(loc.sizes()) * scale;
          const at::Tensor off = (value - loc) / scale;
          at::Tensor log_prob = off * off * -0.5 - scale.log() - 0.9189385332;
          benchmark::DoNotOptimize(log_prob);
        }
      });
}

}  // namespace

void register_modules() {
  for (const int batch : {1, 64}) {
    auto policy = std::make_shared<Policy>(batch);
    const std::string name = "module: MLP 4-64-64-2, batch " + std::to_string(batch);
    figure(name, 1, batch == 1 ? 1.05 : 1.03, inplace(policy, policy->module), by_hand(policy));
    figure(name + ", frozen", 1, batch == 1 ? 0.7 : 0, inplace(policy, policy->frozen),
           by_hand(policy));
    if (batch == 64) continue;
    const td_module* const three[] = {policy->module, policy->module, policy->module};
    td_module* row = nullptr;
    ok(td_module_sequence(three, 3, nullptr, &row));
    figure("module: sequence of 3", 3, 1.05, inplace(policy, row), by_hand(policy, 3));
    register_ensemble(policy);
  }
  register_sampling();
}

}  // namespace bench
