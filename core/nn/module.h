// core/nn/module.h: a function from dictionary to dictionary: a network, a callback, a sequence or a
// distribution.
#pragma once

#include "core/nn/key_path.h"
#include "core/tree/tensordict.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

class Frame;
class Pins;

// Which value of a distribution to take. `unset` leaves the choice to the module.
enum class Interaction { unset, mode, median, mean, random, deterministic };

enum class ModuleOutput {
  like_input,  // a new dictionary with the input's batch size and device
  plain,       // a new dictionary without batch size and device
};

struct ModuleCall {
  std::optional<TensorDict> params;  // replaces the module's own
  bool map_input = false;  // with batched parameters: the input has their leading dimension, too
  bool skip_existing = false;  // skips modules whose outputs all exist, and are no inputs, too
  Interaction interaction = Interaction::unset;
  ModuleOutput output = ModuleOutput::like_input;
  std::optional<TensorDict> out;  // receives the outputs
};

// Shared and immutable, except for its parameters, which are swapped as a whole. Threads may share it.
class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const KeyPaths& in_keys() const noexcept { return in_keys_; }
  const KeyPaths& out_keys() const noexcept { return out_keys_; }

  // Whether it may write entries that its keys do not list.
  virtual bool writes_any() const noexcept { return false; }

  // The number of modules, this one included, and their nesting depth. Both are bounded: walks may recurse,
  // and a sequence of sequences ends.
  struct Extent {
    std::size_t modules = 1, depth = 1;
  };
  const Extent& extent() const noexcept { return extent_; }

  // Whether it processes the elements of a lazy stack one by one.
  virtual bool by_element(const TensorDict&) const noexcept { return false; }

  // The modules of a sequence; empty for other modules.
  virtual std::vector<std::shared_ptr<const Module>> parts() const { return {}; }

  // Sample dimensions of the outputs, in front of the batch size.
  virtual SizesView sample_sizes() const noexcept { return {}; }

  // Returns the outputs in a new dictionary, or in `call.out`. A failure changes no dictionary.
  TensorDict call(const TensorDict& td, const ModuleCall& call = {}) const;

  // Writes the outputs into the input.
  void call_inplace(const TensorDict& td, const ModuleCall& call = {}) const;

  // The module's parameters and buffers, nested by submodule; no batch size.
  virtual TensorDict params() const { return TensorDict(); }
  virtual bool has_params() const { return false; }

  // Replaces all parameters, or none; with a path, those of a submodule.
  void set_params(Path path, const TensorDict& params) const;

  // The text that Python prints.
  virtual std::string to_string() const = 0;

  // Reads and writes the frame. `params`: those of the call, or nullptr.
  virtual void run(Frame& frame, const Node* params) const = 0;

  // Runs all modules of a sequence except the last one, and returns that one.
  virtual const Module& run_to_last(Frame&, const Node*) const { return *this; }

  // Validates parameters and appends the swaps that install them; a swap cannot fail.
  using Swap = std::function<void()>;
  virtual void plan_params(const Node& params, std::vector<Swap>& swaps) const;

  // Pins the current parameters of this module and its submodules.
  virtual void pin(Pins&) const {}

 protected:
  // Throws Code::key_invalid if parameters are passed to a module that has no parameters.
  static void refuse_params(const Node* params);

  // Whether the call leaves it out: its outputs exist, and none is an input, too.
  bool is_skipped(const Frame& frame) const;

  // Throws Code::invalid_argument unless each of the `count` returned values has a key.
  void require_outputs(std::size_t count) const;

  // "Name(in_keys=[…], out_keys=[…])", with `before` in front of the keys.
  std::string show(const char* name, const std::string& before = "") const;

  // Counts a submodule. Throws Code::unsupported above the limits of Extent.
  void holds_module(const Module& inner);

  KeyPaths in_keys_, out_keys_;

 private:
  TensorDict call_into(const TensorDict& td, const ModuleCall& call,
                       const TensorDict* target) const;
  TensorDict call_mapped(const TensorDict& td, const ModuleCall& call,
                         const TensorDict* target) const;
  TensorDict call_elements(const TensorDict& td, const ModuleCall& call,
                           const TensorDict* target) const;

  Extent extent_;
};

using ModulePtr = std::shared_ptr<const Module>;

// The same module, writing only these outputs.
ModulePtr select_out_keys(const ModulePtr& module, KeyPaths keys);

}  // namespace td
