// core/nn/script_module.h: a TorchScript module as a Module; internal, since it includes TorchScript's
// headers.
#pragma once

#include "core/nn/module.h"
#include "core/nn/script_params.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/interpreter.h>

namespace td {

class ScriptModule final : public Module {
 public:
  ScriptModule(const torch::jit::Module& module, KeyPaths in_keys, KeyPaths out_keys, bool frozen);

  TensorDict params() const override;
  bool has_params() const override { return !plan_.empty(); }
  std::string to_string() const override;
  void run(Frame& frame, const Node* params) const override;
  void plan_params(const Node& params, std::vector<Swap>& swaps) const override;
  void pin(Pins& pins) const override;

  ScriptObject current() const;

 private:
  void add_inputs(const Frame& frame, std::vector<c10::IValue>& stack) const;
  void put_outputs(Frame& frame, const c10::IValue& result) const;
  void put(Frame& frame, std::size_t i, const c10::IValue& value) const;

  const bool frozen_;
  // Threads may run it at the same time.
  torch::jit::Code code_;
  torch::jit::Code mapped_code_;       // under vmap
  std::vector<bool> optional_;         // inputs with defaults
  std::vector<c10::IValue> defaults_;  // of arguments after the in_keys
  ScriptParams plan_;
  mutable ScriptObject object_;  // read and swapped under Pins::mutex()
};

}  // namespace td
