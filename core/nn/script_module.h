// core/nn/script_module.h: a TorchScript module as a Module. For the sources that include TorchScript's headers.
#pragma once

#include "core/nn/module.h"
#include "core/nn/script_params.h"

#include <torch/csrc/jit/api/module.h>

namespace td {

class ScriptModule final : public Module {
 public:
  ScriptModule(const torch::jit::Module& module, KeyPaths in_keys, KeyPaths out_keys, bool frozen);

  TensorDict params() const override;
  std::string to_string() const override;
  void run(Frame& frame, const Node* params) const override;
  void plan_params(const Node& params, std::vector<Swap>& swaps) const override;
  void pin(Pins& pins) const override;

  ScriptObject current() const;

 private:
  void add_inputs(const Frame& frame, std::vector<c10::IValue>& stack) const;
  void put_outputs(Frame& frame, const c10::IValue& result) const;
  void put(Frame& frame, std::size_t i, const c10::IValue& value) const;

  torch::jit::Function* function_;
  const bool frozen_;
  std::vector<bool> optional_;         // inputs that may be missing
  std::vector<c10::IValue> defaults_;  // of arguments behind the in_keys
  ScriptParams plan_;
  mutable ScriptObject object_;  // read and swapped under Pins::mutex()
};

}  // namespace td
