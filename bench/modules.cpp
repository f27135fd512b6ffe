// Modules over dictionaries, against the calls that they stand for with tensors in hand.
#include "fixture.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstring>
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
        optimized(loaded(TD_MODULE_LOAD_OPTIMIZE)),
        script(torch::jit::load(archive)),
        observation(at::rand({batch, 4})) {
    ok(td_create(&batch, 1, TD_DEVICE_NONE, -1, &td));
    const char* const name = "observation";
    td_tensor* tensor = wrap(observation);
    ok(td_set(td, &name, 1, tensor));
    td_tensor_free(tensor);
  }
  td_module *module, *frozen, *optimized;
  torch::jit::Module script;
  at::Tensor observation;
  td_tensordict* td = nullptr;
};

Body inplace(std::shared_ptr<Policy> policy, td_module* module) {
  return [policy, module](benchmark::State& state) {
    for (auto _ : state) ok(td_module_call_inplace(policy->td, module, nullptr));
  };
}

Body by_hand(std::shared_ptr<Policy> policy, torch::jit::Module script, int times = 1) {
  return [policy, script, times](benchmark::State& state) mutable {
    for (auto _ : state) {
      for (int i = 0; i < times; ++i) {
        at::Tensor action = script.forward({policy->observation}).toTensor();
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

// Environments of an engine, each with memory of its own: what it sees, and what it is to do.
struct Environments {
  static constexpr std::int64_t count = 64, seen = 4, wanted = 2;
  struct One {
    float observation[seen];
    float action[wanted];
    char others[200];  // of the engine
  };
  Environments() : all(count), observations(count * seen) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t k = 0; k < seen; ++k)
        all[i].observation[k] = 0.01F * static_cast<float>(i + k);
      rows.push_back(at::from_blob(all[i].observation, {seen}));
    }
  }
  std::vector<One> all;
  std::vector<float> observations;  // a row for each environment
  std::vector<at::Tensor> rows;     // over the environments' own memory
};

// As docs/guide/modules.md says: each environment writes its row, one call, each takes its action.
Body act_through_rows(std::shared_ptr<Environments> engine, td_module* module) {
  constexpr auto n = Environments::count, seen = Environments::seen;
  td_tensordict* td = nullptr;
  ok(td_create(&n, 1, TD_DEVICE_NONE, -1, &td));
  const char* const names[] = {"observation", "action"};
  td_tensor* batch = wrap(at::from_blob(engine->observations.data(), {n, seen}));
  ok(td_set(td, names, 1, batch));
  td_tensor_free(batch);
  return [engine, module, td, names](benchmark::State& state) {
    constexpr auto bytes = sizeof Environments::One::observation;
    for (auto _ : state) {
      for (std::size_t i = 0; i < engine->all.size(); ++i)
        std::memcpy(&engine->observations[i * seen], engine->all[i].observation, bytes);
      ok(td_module_call_inplace(td, module, nullptr));
      td_tensor* action = nullptr;
      float actions[Environments::count][Environments::wanted];
      ok(td_get(td, names + 1, 1, &action));
      ok(td_tensor_copy_to(action, actions, sizeof actions));
      td_tensor_free(action);
      for (std::size_t i = 0; i < engine->all.size(); ++i)
        std::memcpy(engine->all[i].action, actions[i], sizeof actions[i]);
    }
  };
}

Body act_by_hand(std::shared_ptr<Environments> engine, torch::jit::Module script) {
  return [engine, script](benchmark::State& state) {
    torch::jit::Module policy = script;
    for (auto _ : state) {
      const at::Tensor actions = policy.forward({at::stack(engine->rows)}).toTensor().contiguous();
      const float* row = actions.data_ptr<float>();
      for (Environments::One& one : engine->all) {
        std::memcpy(one.action, row, sizeof one.action);
        row += Environments::wanted;
      }
    }
  };
}

// A policy with memory, as docs/guide/memory.md calls it: the new state takes the place of the old one.
void register_recurrent() {
  constexpr std::int64_t n = 64, seen = 8, hidden = 32;
  const std::string file = TD_BENCH_GALLERY "/recurrent.pt";
  td_module* module = nullptr;
  ok(td_module_load(file.c_str(), nullptr, &module));
  td_tensordict* td = nullptr;
  ok(td_create(&n, 1, TD_DEVICE_NONE, -1, &td));
  static const char* const h[] = {"next", "recurrent_state_h"};
  static const char* const c[] = {"next", "recurrent_state_c"};
  const at::Tensor observation = at::rand({n, seen}), zeros = at::zeros({n, 1, hidden}),
                   is_init = at::zeros({n, 1}, at::kBool);
  const char* const names[] = {"observation", h[1], c[1], "is_init"};
  const at::Tensor inputs[] = {observation, zeros, zeros.clone(), is_init};
  for (int i = 0; i < 4; ++i) {
    td_tensor* tensor = wrap(inputs[i]);
    ok(td_set(td, names + i, 1, tensor));
    td_tensor_free(tensor);
  }
  torch::jit::Module script = torch::jit::load(file);
  figure(
      "module: recurrent step, 64 environments", 4, 1.1,
      [td, module](benchmark::State& state) {
        for (auto _ : state) {
          ok(td_module_call_inplace(td, module, nullptr));
          ok(td_rename_key(td, h, 2, h + 1, 1, 0));
          ok(td_rename_key(td, c, 2, c + 1, 1, 0));
        }
      },
      [script, observation, zeros, is_init](benchmark::State& state) {
        torch::jit::Module policy = script;
        at::Tensor was_h = zeros, was_c = zeros;
        for (auto _ : state) {
          const auto out = policy.forward({observation, was_h, was_c, is_init}).toTuple();
          was_h = out->elements()[1].toTensor();
          was_c = out->elements()[2].toTensor();
        }
      });
}

// A thousand functions with an output each, against ten times a hundred: networks of their own would measure the
// caches of the processor.
td_status pass_on(void* user, td_tensordict* source, td_tensordict**) {
  const char* const from = "observation";
  const char* const to = static_cast<const char*>(user);
  td_tensor* tensor = nullptr;
  ok(td_get(source, &from, 1, &tensor));
  ok(td_set(source, &to, 1, tensor));
  td_tensor_free(tensor);
  return TD_OK;
}

void register_long_sequences() {
  const auto sequence_of = [&](std::size_t count) {
    std::vector<td_module*> modules;
    for (std::size_t i = 0; i < count; ++i) {
      // Lives until the program ends.
      const auto* const name = new std::string("action " + std::to_string(i));
      const char *const in = "observation", *const out = name->c_str();
      const td_key in_key = {&in, 1}, out_key = {&out, 1};
      td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
      options.in_keys = &in_key;
      options.out_keys = &out_key;
      options.in_keys_len = options.out_keys_len = 1;
      td_module* module = nullptr;
      ok(td_module_from_function(&options, pass_on, const_cast<char*>(out), nullptr, &module));
      modules.push_back(module);
    }
    td_module* all = nullptr;
    ok(td_module_sequence(modules.data(), count, nullptr, &all));
    for (td_module* one : modules) td_module_free(one);
    return all;
  };
  const auto calls = [](td_module* module, int times) {
    return [of = std::make_shared<Policy>(1), module, times](benchmark::State& state) {
      for (auto _ : state)
        for (int i = 0; i < times; ++i) ok(td_module_call_inplace(of->td, module, nullptr));
    };
  };
  figure("module: sequence of 1,000", 1000, 1.1, calls(sequence_of(1000), 1),
         calls(sequence_of(100), 10));
}

}  // namespace

void register_modules() {
  for (const int batch : {1, 64}) {
    auto policy = std::make_shared<Policy>(batch);
    const std::string name = "module: MLP 4-64-64-2, batch " + std::to_string(batch);
    const Body script = by_hand(policy, policy->script);
    figure(name, 1, batch == 1 ? 1.05 : 1.03, inplace(policy, policy->module), script);
    figure(name + ", frozen", 1, batch == 1 ? 0.9 : 0, inplace(policy, policy->frozen), script);
    figure(name + ", optimized", 1, 0, inplace(policy, policy->optimized), script);
    if (batch == 64) {
      auto engine = std::make_shared<Environments>();
      figure("module: rows to actions, 64 environments", 1, 1.15,
             act_through_rows(engine, policy->module), act_by_hand(engine, policy->script));
      continue;
    }
    torch::jit::Module frozen = torch::jit::load(archive);
    frozen.eval();
    figure(name + ", frozen, beside itself", 1, 0, inplace(policy, policy->frozen),
           by_hand(policy, torch::jit::freeze(frozen)));
    const td_module* const three[] = {policy->module, policy->module, policy->module};
    td_module* row = nullptr;
    ok(td_module_sequence(three, 3, nullptr, &row));
    figure("module: sequence of 3", 3, 1.05, inplace(policy, row),
           by_hand(policy, policy->script, 3));
    register_ensemble(policy);
  }
  register_sampling();
  register_recurrent();
  register_long_sequences();
}

}  // namespace bench
