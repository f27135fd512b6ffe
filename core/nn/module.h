// core/nn/module.h: what maps a dictionary to a dictionary: networks, functions, sequences, distributions.
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

// Which value of a distribution is taken. `unset` leaves the choice to the module.
enum class Interaction { unset, mode, median, mean, random, deterministic };

// Where a call that makes a dictionary writes.
enum class ModuleOutput {
  like_input,  // a dictionary of the input's batch size and device
  plain,       // a dictionary without batch size and device
};

struct ModuleCall {
  std::optional<TensorDict> params;  // instead of the module's own
  bool map_input = false;            // with a batch of parameters: the input has that dimension too
  bool skip_existing = false;        // modules whose outputs are all there do not run
  Interaction interaction = Interaction::unset;
  ModuleOutput output = ModuleOutput::like_input;
  std::optional<TensorDict> out;  // receives the outputs
};

// Shared, and the same for as long as it lives but for its parameters, which are swapped as a whole.
// Several threads may call one module.
class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const KeyPaths& in_keys() const noexcept { return in_keys_; }
  const KeyPaths& out_keys() const noexcept { return out_keys_; }

  // Whether it may write other entries than its keys say.
  virtual bool writes_any() const noexcept { return false; }

  // How many modules this one is made of, itself included, and how deep they stand in one another. Bounded, so
  // that walks may call themselves, and that a sequence of sequences ends.
  struct Extent {
    std::size_t modules = 1, depth = 1;
  };
  const Extent& extent() const noexcept { return extent_; }

  // Whether the elements of a lazy stack are worked on one by one.
  virtual bool by_element(const TensorDict&) const noexcept { return false; }

  // The modules of a sequence; of others nothing.
  virtual std::vector<std::shared_ptr<const Module>> parts() const { return {}; }

  // Dimensions that outputs have in front of the batch size.
  virtual SizesView sample_sizes() const noexcept { return {}; }

  // The outputs in a dictionary of their own, or in `call.out`. Whatever fails leaves all dictionaries as
  // they were.
  TensorDict call(const TensorDict& td, const ModuleCall& call = {}) const;

  // The outputs in the input itself.
  void call_inplace(const TensorDict& td, const ModuleCall& call = {}) const;

  // The module's own parameters and buffers, nested by sub-modules; without batch size.
  virtual TensorDict params() const { return TensorDict(); }
  virtual bool has_params() const { return false; }

  // Takes other tensors in their place, all of them or none; under a path those of a sub-module.
  void set_params(Path path, const TensorDict& params) const;

  // As Python prints it.
  virtual std::string to_string() const = 0;

  // Reads from the frame and writes there. `params` are those of a call, or nullptr.
  virtual void run(Frame& frame, const Node* params) const = 0;

  // Runs all but the last module of a sequence, and gives that one.
  virtual const Module& run_to_last(Frame&, const Node*) const { return *this; }

  // Checks parameters and puts aside what takes them over, which cannot fail.
  using Swap = std::function<void()>;
  virtual void plan_params(const Node& params, std::vector<Swap>& swaps) const;

  // Notes down the parameters as they are now, of this module and of those in it.
  virtual void pin(Pins&) const {}

 protected:
  // Of a module without parameters: throws Code::key_invalid where some are given.
  static void refuse_params(const Node* params);

  // Of a module whose code returned `count` values: throws Code::invalid_argument unless each has a key.
  void require_outputs(std::size_t count) const;

  // "Name(in_keys=[…], out_keys=[…])", with `before` in front of the keys.
  std::string show(const char* name, const std::string& before = "") const;

  // Counts a module inside of this one. Throws Code::unsupported where they are too many or too deep.
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

// The same module, of which only these outputs are written.
ModulePtr select_out_keys(const ModulePtr& module, KeyPaths keys);

}  // namespace td
