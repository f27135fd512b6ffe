// core/inspect/state_dict.h: the tensors of a dictionary by name, to store and load them.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

struct StateOptions {
  bool nested = false;     // nested dictionaries instead of names joined with dots
  bool keep_vars = false;  // keeps the tensors' history
};

// A dictionary without batch dimensions with the tensors of `td`, and under "_metadata" the batch size and
// device of each dictionary by its joined name. Omits non-tensor values. Code::key_exists if two paths have
// the same joined name.
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
