// core/nn/function.h: modules made of a caller's function, and sequences of modules.
#pragma once

#include "core/nn/module.h"

#include <functional>

namespace td {

// Receives a new dictionary over the input's tensors, and returns the outputs; nullopt returns the dictionary
// it received.
using ModuleFn = std::function<std::optional<TensorDict>(const TensorDict& source)>;

struct FunctionOptions {
  KeyPaths in_keys;     // inputs of the function; empty: the whole dictionary
  KeyPaths out_keys;    // outputs to keep; empty: all new entries
  bool strict = false;  // a missing input is an error; otherwise it is left out
};
ModulePtr module_from_function(ModuleFn function, FunctionOptions options);

struct SequenceOptions {
  // Skips modules whose inputs are missing; processes a lazy stack element by element.
  bool partial_tolerant = false;

  // All modules come from one archive: the first is the network, which owns all parameters. Other networks
  // share them.
  bool of_archive = false;

  std::optional<KeyPaths> out_keys;  // writes only these outputs
};
ModulePtr module_sequence(std::vector<ModulePtr> modules, const SequenceOptions& options = {});

// nullptr if the module is not a sequence.
const SequenceOptions* sequence_options(const Module& module) noexcept;

// The modules of a sequence that these inputs allow and these outputs need; nullopt: the sequence's own keys.
// Throws Code::invalid_argument if no module remains, or for another kind of module.
ModulePtr select_subsequence(const ModulePtr& sequence, const std::optional<KeyPaths>& in_keys,
                             const std::optional<KeyPaths>& out_keys);

}  // namespace td
