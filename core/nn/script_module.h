// core/nn/script_module.h: a TorchScript module as a Module; internal, since it includes TorchScript's
// headers.
#pragma once

#include "core/nn/batch_form.h"
#include "core/nn/module.h"
#include "core/nn/script_params.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/interpreter.h>

namespace td {

class ScriptModule final : public Module {
 public:
  enum class Mode { plain, frozen, train };

  ScriptModule(const torch::jit::Module& module, KeyPaths in_keys, KeyPaths out_keys, Mode mode,
               BatchForm form)
      : ScriptModule(std::make_shared<ScriptObject>(module._ivalue()), "forward",
                     std::move(in_keys), std::move(out_keys), mode, std::move(form)) {}

  // Another method of the same object: both have the same parameters, also after these are replaced.
  ModulePtr beside(const NetworkSpec& spec, BatchForm form) const;
  const std::string& method() const noexcept { return method_; }

  TensorDict params() const override;
  bool has_params() const override { return !plan_.empty(); }
  std::string to_string() const override;
  SizesView sample_sizes() const noexcept override { return form_.front(); }
  void run(Frame& frame, const Node* params) const override;
  void plan_params(const Node& params, std::vector<Swap>& swaps) const override;
  void pin(Pins& pins) const override;

  ScriptObject current() const;
  // What the archive says about batches, also where training takes fewer.
  const BatchForm& form() const noexcept { return recorded_; }

 private:
  using Inputs = c10::SmallVector<at::Tensor, 4>;

  ScriptModule(std::shared_ptr<ScriptObject> object, const std::string& method, KeyPaths in_keys,
               KeyPaths out_keys, Mode mode, BatchForm form);
  // Throws Code::unsupported if a call would skip a part of it.
  void require_whole(const Frame& frame) const;
  Inputs inputs_of(const Frame& frame) const;
  void add_inputs(const Inputs& inputs, std::vector<c10::IValue>& stack) const;
  void put_outputs(Frame& frame, const c10::IValue& result, const BatchFit& fit) const;
  void put(Frame& frame, std::size_t i, const c10::IValue& value, const BatchFit& fit) const;

  const std::string method_;
  const Mode mode_;
  const BatchForm recorded_, form_;
  // Threads may run it at the same time.
  torch::jit::Code code_;
  torch::jit::Code mapped_code_;       // under vmap
  std::vector<bool> optional_;         // inputs with defaults
  std::vector<c10::IValue> defaults_;  // of arguments after the in_keys
  ScriptParams plan_;
  const std::shared_ptr<ScriptObject> object_;  // read and swapped under Pins::mutex()
};

}  // namespace td
