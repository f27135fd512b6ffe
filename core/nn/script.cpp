// Calls a TorchScript module. Parameters are slots of an object passed to the code: a call with other
// parameters passes another object and changes nothing that a second thread reads.
#include "core/nn/checked_graph.h"
#include "core/nn/frame.h"
#include "core/nn/guarded.h"
#include "core/nn/mapped.h"
#include "core/nn/script_module.h"
#include "core/tree/paths.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/function_schema.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/subgraph_matcher.h>
#include <torch/csrc/jit/passes/subgraph_rewrite.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <optional>

namespace td {

namespace {

// libtorch wraps an interpreter's error into a Python trace; the last line holds the reason.
[[noreturn]] void fail_in_module(const std::string& text, const std::string& inputs = "") {
  std::string last;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.find_first_not_of(" ~<>HERE-.") != std::string::npos && line.front() != ' ')
      last = line;
    at = end + 1;
  }
  fail(Code::torch, "the module failed: ", last, inputs.empty() ? "" : "; its inputs are ", inputs);
}

// The JIT executor is off. It would specialise the code for the sizes of the second call and again for
// others, and what it learns under vmap is wrong elsewhere. Also, the LLVM of Debian 13's libtorch hangs when
// it compiles a fused kernel.
torch::jit::Code plain_code(const std::shared_ptr<torch::jit::Graph>& graph) {
  const torch::jit::GraphOptimizerEnabledGuard as_it_is(false);
  std::vector<c10::IValue> none;  // only the disabled optimiser looks at sizes
  return torch::jit::GraphExecutor(graph, "forward").getPlanFor(none, {}).code;
}

// Inlines calls of other methods.
std::shared_ptr<torch::jit::Graph> inlined(torch::jit::Function& function) {
  const torch::jit::GraphOptimizerEnabledGuard on(true);
  return torch::jit::toGraphFunction(function).optimized_graph();
}

// vmap would run a linear layer as beta * bias + alpha * product, four kernels: rewrites it.
std::shared_ptr<torch::jit::Graph> for_vmap(torch::jit::Graph& graph) {
  std::shared_ptr<torch::jit::Graph> changed = graph.copy();
  torch::jit::SubgraphRewriter rewriter;
  rewriter.RegisterRewritePattern(R"(
graph(%input, %weight, %bias):
  %result = aten::linear(%input, %weight, %bias)
  return (%result))",
                                  R"(
graph(%input, %weight, %bias):
  %one : int = prim::Constant[value=1]()
  %across = aten::t(%weight)
  %product = aten::matmul(%input, %across)
  %result = aten::add(%product, %bias, %one)
  return (%result))");
  const auto has_bias = [](const torch::jit::Match& match,
                           const std::unordered_map<std::string, torch::jit::Value*>& names) {
    return match.values_map.at(names.at("bias"))->type()->kind() == c10::TypeKind::TensorType;
  };
  rewriter.runOnGraph(changed, has_bias);
  return changed;
}

}  // namespace

ScriptModule::ScriptModule(std::shared_ptr<ScriptObject> object, const std::string& name,
                           KeyPaths in_keys, KeyPaths out_keys, Mode mode, BatchForm form)
    : method_(name),
      mode_(mode),
      recorded_(std::move(form)),
      form_(mode == Mode::train ? recorded_.as_it_is() : recorded_),
      plan_(*object),
      object_(std::move(object)) {
  in_keys_ = std::move(in_keys);
  out_keys_ = std::move(out_keys);
  const auto method =
      torch::jit::Module(*object_).find_method(mode == Mode::train ? method_ + "_train" : method_);
  if (!method && mode == Mode::train) {
    fail(Code::unsupported, "the archive has no training mode; export it with train=True");
  }
  if (!method) fail(Code::format, "the module has no method \"", method_, '"');
  guarded(
      [&] {
        const auto graph = with_checks(inlined(method->function()));
        code_ = plain_code(graph);
        mapped_code_ = plain_code(for_vmap(*graph));
      },
      [](const std::string& text) { fail_in_module(text); });
  const std::vector<c10::Argument>& arguments = method->function().getSchema().arguments();
  if (in_keys_.size() + 1 > arguments.size()) {
    fail(Code::invalid_argument, "the module takes ", arguments.size() - 1,
         " inputs, but there are ", in_keys_.size(), " in_keys: ", show_keys(in_keys_));
  }
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const c10::Argument& one = arguments[i];
    if (i <= in_keys_.size()) {
      optional_.push_back(one.type()->kind() == c10::TypeKind::OptionalType);
    } else if (one.default_value()) {
      defaults_.push_back(*one.default_value());
    } else {
      fail(Code::invalid_argument, "the module takes ", arguments.size() - 1, " inputs, but there ",
           "are ", in_keys_.size(), " in_keys, none for \"", one.name(), '"');
    }
  }
}

ModulePtr ScriptModule::beside(const NetworkSpec& spec, BatchForm form) const {
  return ModulePtr(
      new ScriptModule(object_, spec.method, spec.in_keys, spec.out_keys, mode_, std::move(form)));
}

ScriptObject ScriptModule::current() const {
  const std::lock_guard<std::mutex> hold(Pins::mutex());
  return *object_;
}

void ScriptModule::pin(Pins& pins) const { pins.add(this, c10::IValue(*object_)); }

TensorDict ScriptModule::params() const { return plan_.dictionary(current()); }

void ScriptModule::plan_params(const Node& params, std::vector<Swap>& swaps) const {
  ScriptObject next = plan_.with(params);
  // The old object is freed with the list, after the lock is released: freeing may run callbacks.
  swaps.push_back([this, next = std::move(next)]() mutable { object_->swap(next); });
}

void ScriptModule::run(Frame& frame, const Node* params) const {
  if (is_skipped(frame)) return;
  if (frame.call().skip_existing) require_whole(frame);
  c10::IValue self;
  if (params == nullptr) {
    self = frame.pins().of(this);
  } else if (frame.level() == nullptr) {
    self = plan_.with(*params);
  } else {
    const ScriptParams::Wrap wrap = [&](const at::Tensor& one) { return frame.level()->wrap(one); };
    self = plan_.with(*params, &wrap);
  }
  std::vector<c10::IValue> stack;
  stack.reserve(1 + in_keys_.size() + defaults_.size());
  stack.emplace_back(std::move(self));
  Inputs inputs = inputs_of(frame);
  const std::size_t least = frame.level() != nullptr ? 0 : frame.input().batch_size().size();
  const BatchFit fit = form_.fit(in_keys_, inputs, least);
  add_inputs(inputs, stack);
  {
    // Code that it forks uses a separate executor, which must be off, too.
    const torch::jit::GraphOptimizerEnabledGuard as_it_is(false);
    // Skips autograd's dispatch. A module that is not frozen may enable gradients itself.
    std::optional<at::AutoDispatchBelowAutograd> below;
    if (mode_ == Mode::frozen && frame.level() == nullptr && !c10::GradMode::is_enabled())
      below.emplace();
    const torch::jit::Code& code = frame.level() != nullptr ? mapped_code_ : code_;
    guarded([&] { torch::jit::InterpreterState(code).run(stack); },
            [&](const std::string& text) { fail_in_module(text, show_inputs(in_keys_, inputs)); });
  }
  if (!form_.front().empty()) frame.expand(form_.front());
  put_outputs(frame, stack.back(), fit);
}

// Python skips each module of a sequence by itself. In an archive they are one.
void ScriptModule::require_whole(const Frame& frame) const {
  if (!recorded_.known() || recorded_.spec()->modules < 2) return;
  for (const KeyPath& key : out_keys_) {
    if (contains(in_keys_, key) || !frame.has(key)) continue;
    fail(Code::unsupported, "a sequence of ", recorded_.spec()->modules,
         " modules is one network in the archive, which computes ", show_path(key),
         " anew: it cannot skip that alone; export the modules one by one, and join them as a "
         "sequence");
  }
}

ScriptModule::Inputs ScriptModule::inputs_of(const Frame& frame) const {
  Inputs inputs;
  for (std::size_t i = 0; i < in_keys_.size(); ++i)
    inputs.push_back(optional_[i] ? frame.tensor(in_keys_[i]) : frame.wanted(in_keys_[i]));
  return inputs;
}

void ScriptModule::add_inputs(const Inputs& inputs, std::vector<c10::IValue>& stack) const {
  for (const at::Tensor& tensor : inputs)
    stack.push_back(tensor.defined() ? c10::IValue(tensor) : c10::IValue());
  stack.insert(stack.end(), defaults_.begin(), defaults_.end());
}

void ScriptModule::put(Frame& frame, std::size_t i, const c10::IValue& value,
                       const BatchFit& fit) const {
  if (out_keys_[i].is_dropped()) return;
  if (!value.isTensor() || !value.toTensor().defined()) {
    fail(Code::wrong_entry, "the module returns ", value.tagKind(), " for ",
         show_path(out_keys_[i]), ", not a tensor");
  }
  frame.put(out_keys_[i], form_.restored(out_keys_[i], value.toTensor(), fit));
}

void ScriptModule::put_outputs(Frame& frame, const c10::IValue& result, const BatchFit& fit) const {
  if (result.isGenericDict()) {
    const auto values = result.toGenericDict();
    for (std::size_t i = 0; i < out_keys_.size(); ++i) {
      if (out_keys_[i].is_dropped()) continue;
      const auto found = values.find(c10::IValue(out_keys_[i].last()));
      if (found == values.end()) {
        fail(Code::key_not_found, "the module returns a dictionary without ",
             show_path(out_keys_[i]));
      }
      put(frame, i, found->value(), fit);
    }
    return;
  }
  const bool tuple = result.isTuple(), list = result.isTensorList();
  const std::size_t count = tuple  ? result.toTupleRef().elements().size()
                            : list ? result.toTensorVector().size()
                                   : 1;
  require_outputs(count);
  for (std::size_t i = 0; i < count; ++i) {
    put(frame, i,
        tuple  ? result.toTupleRef().elements()[i]
        : list ? c10::IValue(result.toTensorVector()[i])
               : result,
        fit);
  }
}

std::string ScriptModule::to_string() const { return show("ScriptModule"); }

}  // namespace td
