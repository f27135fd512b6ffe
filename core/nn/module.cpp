#include "core/nn/module.h"

#include "core/keys/entries.h"
#include "core/nn/frame.h"
#include "core/nn/function.h"
#include "core/nn/mapped.h"
#include "core/tree/kinds.h"
#include "core/tree/paths.h"

#include <algorithm>
#include <deque>

namespace td {

namespace {

// A module that writes only some of its outputs.
class SelectedModule final : public Module {
 public:
  SelectedModule(ModulePtr module, KeyPaths keys) : module_(std::move(module)) {
    in_keys_ = module_->in_keys();
    out_keys_ = std::move(keys);
    holds_module(*module_);
  }
  bool writes_any() const noexcept override { return module_->writes_any(); }
  bool by_element(const TensorDict& td) const noexcept override { return module_->by_element(td); }
  TensorDict params() const override { return module_->params(); }
  bool has_params() const override { return module_->has_params(); }
  SizesView sample_sizes() const noexcept override { return module_->sample_sizes(); }
  void pin(Pins& pins) const override { module_->pin(pins); }
  std::string to_string() const override { return module_->to_string(); }
  void plan_params(const Node& params, std::vector<Swap>& swaps) const override {
    module_->plan_params(params, swaps);
  }
  void run(Frame& frame, const Node* params) const override {
    if (is_skipped(frame)) return;
    const std::size_t mark = frame.mark();
    module_->run(frame, params);
    // As in Python: a sequence keeps all that it overwrites, another module what it reads and overwrites.
    const bool is_sequence = sequence_options(*module_) != nullptr;
    frame.keep_since(mark, out_keys_, is_sequence ? nullptr : &in_keys_);
  }
  const Module& run_to_last(Frame& frame, const Node* params) const override {
    return module_->run_to_last(frame, params);
  }

 private:
  ModulePtr module_;
};

// The size of the vmap dimension; throws if the call is not possible.
std::int64_t mapped_size(const TensorDict& params, const TensorDict& td, bool map_input) {
  const SizesView batch = params.batch_size();
  if (batch.size() != 1) {
    fail(Code::unsupported, "the parameters have batch size ", show_sizes(batch),
         "; one dimension or none is supported");
  }
  if (batch[0] < 1) fail(Code::shape, "the parameters have batch size ", show_sizes(batch));
  if (map_input && (td.batch_size().empty() || td.batch_size()[0] != batch[0])) {
    fail(Code::shape, "the parameters have batch size ", show_sizes(batch), ", the dictionary ",
         show_sizes(td.batch_size()), ", which does not begin with it");
  }
  return batch[0];
}

// A new dictionary for the outputs; `front` holds the sample dimensions.
TensorDict made_for(const TensorDict& td, const ModuleCall& call, SizesView front) {
  if (call.output == ModuleOutput::plain) return TensorDict();
  Sizes batch(front.begin(), front.end());
  batch.append(td.batch_size().begin(), td.batch_size().end());
  return TensorDict(batch, td.device());
}

bool is_mapped(const ModuleCall& call) { return call.params && !call.params->batch_size().empty(); }

void check_call(const TensorDict& td, const ModuleCall& call) {
  check_input(td);
  if (call.map_input && !is_mapped(call)) {
    fail(Code::invalid_argument,
         "the input has the dimension of the parameters, but these have no batch dimension");
  }
}

const Node* params_of(const ModuleCall& call) {
  return call.params ? call.params->node().get() : nullptr;
}

Pins pins_for(const Module& module, const ModuleCall& call) {
  return call.params ? Pins() : Pins(module);
}

}  // namespace

TensorDict Module::call(const TensorDict& td, const ModuleCall& call) const {
  return call_into(td, call, call.out ? &*call.out : nullptr);
}

void Module::call_inplace(const TensorDict& td, const ModuleCall& call) const {
  if (call.out) fail(Code::invalid_argument, "a call in place has no other output than the input");
  call_into(td, call, &td);
}

TensorDict Module::call_into(const TensorDict& td, const ModuleCall& call,
                             const TensorDict* target) const {
  check_call(td, call);
  if (is_mapped(call)) return call_mapped(td, call, target);
  if (by_element(td)) return call_elements(td, call, target);
  const Pins pins = pins_for(*this, call);
  Frame frame(td, call, pins, target);
  run(frame, params_of(call));
  const TensorDict made = target != nullptr ? *target : made_for(td, call, sample_sizes());
  frame.write_to(made);
  return made;
}

// Elements may have different keys, and so different outputs.
TensorDict Module::call_elements(const TensorDict& td, const ModuleCall& call,
                                 const TensorDict* target) const {
  const c10::ArrayRef<NodePtr> elements = stacked(*td.node());
  const c10::ArrayRef<NodePtr> into =
      target == nullptr ? c10::ArrayRef<NodePtr>() : stacked(*target->node());
  if (target != nullptr &&
      (into.size() != elements.size() || !stacked_alike(*td.node(), *target->node()))) {
    fail(Code::wrong_entry, "the outputs for a lazy stack of ", elements.size(),
         " elements go into a lazy stack like it");
  }
  const std::vector<TensorDict> sources(elements.begin(), elements.end());
  std::deque<TensorDict> targets;
  const Pins pins = pins_for(*this, call);
  std::deque<Frame> frames;  // stable addresses
  Changes changes;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    targets.push_back(target != nullptr ? TensorDict(into[i])
                                        : made_for(sources[i], call, sample_sizes()));
    frames.emplace_back(sources[i], call, pins, target != nullptr ? &targets.back() : nullptr);
    run(frames[i], params_of(call));
  }
  for (std::size_t i = 0; i < sources.size(); ++i) frames[i].plan_into(targets[i], changes);
  changes.run();
  if (target != nullptr) return *target;
  std::vector<NodePtr> made;
  for (const TensorDict& one : targets) made.push_back(one.node());
  return TensorDict(NodePtr(lazy_stack(std::move(made), *stack_dim_of(*td.node()))));
}

TensorDict Module::call_mapped(const TensorDict& td, const ModuleCall& call,
                               const TensorDict* target) const {
  const std::int64_t n = mapped_size(*call.params, td, call.map_input);
  Sizes front;
  if (!call.map_input) front.push_back(n);
  front.append(sample_sizes().begin(), sample_sizes().end());
  const Pins none;
  Frame results(td, call, none, target);
  {
    const MappedLevel level(n);
    Frame frame(td, call, none, target, &level);
    run(frame, params_of(call));
    frame.unwrap_to(results);
  }
  const TensorDict made = target != nullptr ? *target : made_for(td, call, front);
  results.write_to(made);
  return made;
}

void Module::plan_params(const Node& params, std::vector<Swap>&) const { refuse_params(&params); }

void Module::refuse_params(const Node* params) {
  if (params == nullptr) return;
  const std::vector<std::string> names = entry_names(*params);
  if (names.empty()) return;
  fail(Code::key_invalid, "the module has no parameters, but was given \"", names.front(), '"');
}

void Module::holds_module(const Module& inner) {
  constexpr std::size_t most = 10000, deepest = 200;
  extent_.modules += inner.extent().modules;
  extent_.depth = std::max(extent_.depth, inner.extent().depth + 1);
  if (extent_.modules > most)
    fail(Code::unsupported, "the module would be made of more than ", most, " modules");
  if (extent_.depth > deepest)
    fail(Code::unsupported, "modules are nested more than ", deepest, " deep");
}

bool Module::is_skipped(const Frame& frame) const {
  if (!frame.call().skip_existing || out_keys_.empty() || !frame.has_all(out_keys_)) return false;
  return std::none_of(out_keys_.begin(), out_keys_.end(),
                      [&](const KeyPath& key) { return contains(in_keys_, key); });
}

void Module::require_outputs(std::size_t count) const {
  if (count == out_keys_.size()) return;
  fail(Code::invalid_argument, "the module returns ", count, " values, but there are ",
       out_keys_.size(), " out_keys: ", show_keys(out_keys_));
}

std::string Module::show(const char* name, const std::string& before) const {
  return name + ("(" + before) + "in_keys=[" + show_keys(in_keys_) + "], out_keys=[" +
         show_keys(out_keys_) + "])";
}

void Module::set_params(Path path, const TensorDict& params) const {
  if (!is_dict(*params.node())) fail(Code::wrong_entry, "parameters are a dictionary");
  if (!params.batch_size().empty()) {
    fail(Code::shape, "the parameters have batch size ", show_sizes(params.batch_size()),
         "; a module's parameters need batch size []");
  }
  TensorDict all = params;
  if (!path.empty()) {
    all = this->params().clone(/*recurse=*/false);
    const Value before = find_entry(all.node(), path);
    if (!is_dict(before)) fail_kind(path, before, "dictionary");
    all.set(path, params);
  }
  std::vector<Swap> swaps;
  plan_params(*all.node(), swaps);
  const std::lock_guard<std::mutex> hold(Pins::mutex());
  for (const Swap& swap : swaps) swap();
}

ModulePtr select_out_keys(const ModulePtr& module, KeyPaths keys) {
  for (const KeyPath& key : keys) {
    if (contains(module->out_keys(), key) || module->writes_any()) continue;
    fail(Code::key_not_found, "the module does not write ", show_path(key), "; it writes ",
         show_keys(module->out_keys()));
  }
  return std::make_shared<SelectedModule>(module, std::move(keys));
}

}  // namespace td
