// core/nn/function.h: a function of the caller as a module, and modules one after the other.
#pragma once

#include "core/nn/module.h"

namespace td {

// Receives a dictionary of its own over tensors of the input, and answers with the outputs; nothing stands
// for the dictionary that it got.
using ModuleFn = std::function<std::optional<TensorDict>(const TensorDict& source)>;

struct FunctionOptions {
  KeyPaths in_keys;     // what the function gets; none: the whole dictionary
  KeyPaths out_keys;    // what is taken from its answer; none: everything that is new in it
  bool strict = false;  // a missing input is an error instead of being left out
};
ModulePtr module_from_function(ModuleFn function, FunctionOptions options);

struct SequenceOptions {
  // A module that lacks an input is skipped; a lazy stack is worked on element by element.
  bool partial_tolerant = false;

  // One archive held all modules. The first is the network, whose parameters are those of the sequence.
  bool of_archive = false;

  std::optional<KeyPaths> out_keys;  // of all outputs, only these are written
};
ModulePtr module_sequence(std::vector<ModulePtr> modules, const SequenceOptions& options = {});

// nullptr for another module.
const SequenceOptions* sequence_options(const Module& module) noexcept;

// The modules of a sequence that can run with these inputs and matter for these outputs; without a value those
// of the sequence. Throws Code::invalid_argument when none is left, and for another module.
ModulePtr select_subsequence(const ModulePtr& sequence, const std::optional<KeyPaths>& in_keys,
                             const std::optional<KeyPaths>& out_keys);

}  // namespace td
