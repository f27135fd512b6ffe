// core/inspect/state_dict.h: the tensors of a dictionary by name, to store and load them.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// The entry of a state with the batch sizes and devices, as JSON, and the separator of joined names.
constexpr std::string_view state_metadata = "_metadata";
constexpr char state_separator = '.';

struct StateOptions {
  bool nested = false;     // nested dictionaries instead of names joined with dots
  bool keep_vars = false;  // keeps the tensors' history
};

// A dictionary without batch dimensions with the tensors of `td`, and the batch size and device of each of its
// dictionaries. Omits non-tensor values. Code::key_exists if two tensors have the same joined name.
TensorDict state_dict(const TensorDict& td, const StateOptions& options);

enum class StateForm { detect, flat, nested };
struct LoadStateOptions {
  bool strict = true;   // requires equal keys; otherwise loads the common ones
  bool assign = false;  // replaces the tensors in `td`
  StateForm form = StateForm::detect;
};

// Loads a state. Tensors keep their identity and receive the values, unless `assign`; batch sizes follow the
// metadata. Checks everything before the first change.
void load_state_dict(const TensorDict& td, const TensorDict& state,
                     const LoadStateOptions& options);

}  // namespace td
