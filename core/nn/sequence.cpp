// Sequences of modules.
#include "core/nn/frame.h"
#include "core/nn/function.h"
#include "core/tree/kinds.h"
#include "core/tree/paths.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

namespace td {

namespace {

class Sequence final : public Module {
 public:
  Sequence(std::vector<ModulePtr> modules, const SequenceOptions& options)
      : modules_(std::move(modules)), options_(options) {
    // Inputs: keys that are read before they are written. Outputs: keys in order of their last write.
    using Keys = std::unordered_set<Path, PathHash, PathEqual>;
    Keys known, last;
    for (const ModulePtr& module : modules_) {
      holds_module(*module);
      for (const KeyPath& key : module->in_keys())
        if (known.insert(key).second) in_keys_.push_back(key);
      for (const KeyPath& key : module->out_keys())
        if (!key.is_dropped()) known.insert(key);
      holds_.push_back(module->has_params());
      const SizesView front = module->sample_sizes();
      samples_.insert(samples_.begin(), front.begin(), front.end());
    }
    KeyPaths written;
    for (auto module = modules_.rbegin(); module != modules_.rend(); ++module) {
      const KeyPaths& keys = (*module)->out_keys();
      for (auto key = keys.rbegin(); key != keys.rend(); ++key)
        if (!key->is_dropped() && last.insert(*key).second) written.push_back(*key);
    }
    std::reverse(written.begin(), written.end());
    if (options_.out_keys) {
      for (const KeyPath& key : *options_.out_keys) {
        if (contains(written, key)) continue;
        fail(Code::key_not_found, "the module does not write ", show_path(key), "; it writes ",
             show_keys(written));
      }
      written = *options_.out_keys;
    }
    out_keys_ = std::move(written);
  }

  std::vector<ModulePtr> parts() const override { return modules_; }
  SizesView sample_sizes() const noexcept override { return samples_; }

  const std::vector<ModulePtr>& modules() const noexcept { return modules_; }
  const SequenceOptions& options() const noexcept { return options_; }

  bool writes_any() const noexcept override {
    return std::any_of(modules_.begin(), modules_.end(),
                       [](const ModulePtr& one) { return one->writes_any(); });
  }
  bool by_element(const TensorDict& td) const noexcept override {
    return (options_.partial_tolerant && is_lazy_stack(*td.node())) ||
           std::any_of(modules_.begin(), modules_.end(),
                       [&](const ModulePtr& one) { return one->by_element(td); });
  }

  TensorDict params() const override {
    TensorDict all;
    if (options_.of_archive) return modules_.empty() ? all : modules_[0]->params();
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      const std::string name = std::to_string(i);
      if (holds_[i]) all.set(std::string_view(name), modules_[i]->params());
    }
    return all;
  }

  bool has_params() const override {
    return std::find(holds_.begin(), holds_.end(), true) != holds_.end();
  }

  void plan_params(const Node& params, std::vector<Swap>& swaps) const override {
    check_extra(params);
    const std::size_t owners = options_.of_archive ? 1 : modules_.size();
    for (std::size_t i = 0; i < std::min(owners, modules_.size()); ++i) {
      if (const NodePtr own = params_of(params, i); own.defined())
        modules_[i]->plan_params(*own, swaps);
    }
  }

  void pin(Pins& pins) const override {
    for (const ModulePtr& module : modules_) module->pin(pins);
  }

  void run(Frame& frame, const Node* params) const override {
    if (is_skipped(frame)) return;
    const std::size_t mark = frame.mark();
    run_first(frame, params, modules_.size());
    if (options_.out_keys) frame.keep_since(mark, *options_.out_keys);
  }

  const Module& run_to_last(Frame& frame, const Node* params) const override {
    if (modules_.empty()) return *this;
    const std::size_t last = modules_.size() - 1;
    run_first(frame, params, last);
    const NodePtr own = params == nullptr ? NodePtr() : params_of(*params, last);
    return modules_[last]->run_to_last(frame, own.get());
  }

  std::string to_string() const override {
    std::string text = "Sequential(";
    for (std::size_t i = 0; i < modules_.size(); ++i)
      text += (i == 0 ? "" : ", ") + modules_[i]->to_string();
    return text + ")";
  }

 private:
  void run_first(Frame& frame, const Node* params, std::size_t count) const {
    if (params != nullptr) check_extra(*params);
    for (std::size_t i = 0; i < count; ++i) {
      const Module& module = *modules_[i];
      if (options_.partial_tolerant && !frame.has_all(module.in_keys())) continue;
      const NodePtr own = params == nullptr ? NodePtr() : params_of(*params, i);
      module.run(frame, own.get());
    }
  }

  // The parameters of one module; may be undefined. In an archive the first module, the network, owns them
  // all, and shares them with other networks.
  NodePtr params_of(const Node& params, std::size_t i) const {
    if (options_.of_archive) return i == 0 || holds_[i] ? retain(params) : NodePtr();
    if (!holds_[i]) return {};
    const std::string name = std::to_string(i);
    const std::optional<Value> found = params.entry(name);
    if (!found) fail(Code::key_not_found, "the parameters lack the entry \"", name, '"');
    const std::string_view names[] = {name};
    if (!is_dict(*found)) fail_kind(names, *found, "dictionary");
    return found->node();
  }

  void check_extra(const Node& params) const {
    if (options_.of_archive) return;
    for (const std::string& name : params.entry_names()) {
      std::size_t i = modules_.size();
      std::from_chars(name.data(), name.data() + name.size(), i);
      const bool known = i < modules_.size() && holds_[i] && std::to_string(i) == name;
      if (!known) fail(Code::key_invalid, "the module has no parameter \"", name, '"');
    }
  }

  std::vector<ModulePtr> modules_;
  std::vector<bool> holds_;  // whether each module has parameters
  Sizes samples_;
  SequenceOptions options_;
};

const Sequence* as_sequence(const ModulePtr& module) {
  return dynamic_cast<const Sequence*>(module.get());
}

bool all_in(const KeyPaths& keys, const KeyPaths& known) {
  return std::all_of(keys.begin(), keys.end(),
                     [&](const KeyPath& key) { return contains(known, key); });
}

bool any_in(const KeyPaths& keys, const KeyPaths& known) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](const KeyPath& key) { return contains(known, key); });
}

bool any_writes(const std::vector<ModulePtr>& modules, const KeyPath& key) {
  return std::any_of(modules.begin(), modules.end(),
                     [&](const ModulePtr& one) { return contains(one->out_keys(), key); });
}

// nullptr if no module remains.
ModulePtr subsequence(const Sequence& sequence, KeyPaths in_keys, KeyPaths out_keys) {
  std::vector<ModulePtr> modules = sequence.modules();
  for (ModulePtr& module : modules) {
    if (const Sequence* inner = as_sequence(module))
      module = subsequence(*inner, in_keys, inner->out_keys());
    if (module != nullptr && !all_in(module->in_keys(), in_keys)) module = nullptr;
    if (module == nullptr) continue;
    in_keys.insert(in_keys.end(), module->out_keys().begin(), module->out_keys().end());
  }
  for (auto at = modules.rbegin(); at != modules.rend(); ++at) {
    ModulePtr& module = *at;
    if (module != nullptr && !any_in(module->out_keys(), out_keys)) module = nullptr;
    if (module == nullptr) continue;
    if (const Sequence* inner = as_sequence(module))
      module = subsequence(*inner, inner->in_keys(), out_keys);
    if (module == nullptr) continue;
    out_keys.insert(out_keys.end(), module->in_keys().begin(), module->in_keys().end());
  }
  modules.erase(std::remove(modules.begin(), modules.end(), nullptr), modules.end());
  if (modules.empty()) return nullptr;
  SequenceOptions options = sequence.options();
  if (options.out_keys) {
    const auto lost = [&](const KeyPath& key) { return !any_writes(modules, key); };
    KeyPaths& keys = *options.out_keys;
    keys.erase(std::remove_if(keys.begin(), keys.end(), lost), keys.end());
  }
  return std::make_shared<Sequence>(std::move(modules), options);
}

}  // namespace

const SequenceOptions* sequence_options(const Module& module) noexcept {
  const auto* sequence = dynamic_cast<const Sequence*>(&module);
  return sequence == nullptr ? nullptr : &sequence->options();
}

ModulePtr module_sequence(std::vector<ModulePtr> modules, const SequenceOptions& options) {
  return std::make_shared<Sequence>(std::move(modules), options);
}

ModulePtr select_subsequence(const ModulePtr& module, const std::optional<KeyPaths>& in_keys,
                             const std::optional<KeyPaths>& out_keys) {
  const Sequence* sequence = as_sequence(module);
  if (sequence == nullptr)
    fail(Code::unsupported, "only a sequence has a subsequence; this is ", module->to_string());
  const KeyPaths from = in_keys.value_or(sequence->in_keys());
  const KeyPaths to = out_keys.value_or(sequence->out_keys());
  ModulePtr result = subsequence(*sequence, from, to);
  if (result == nullptr) {
    fail(Code::invalid_argument, "no module is left that leads from ", show_keys(from), " to ",
         show_keys(to));
  }
  return result;
}

}  // namespace td
