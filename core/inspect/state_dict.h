// core/inspect/state_dict.h: the tensors of a dictionary under one name each, to be stored and loaded again.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

struct StateOptions {
  bool nested = false;     // dictionaries inside each other instead of names joined with dots
  bool keep_vars = false;  // tensors with their history
};

// A dictionary without batch dimensions that holds the tensors of `td`, and under "_metadata" a value:
// the batch size and the device of each dictionary, by its joined name. Non-tensor values are
// left out. Code::key_exists when two paths join to the same name.
TensorDict state_dict(const TensorDict& td, const StateOptions& options);

enum class StateForm { detect, flat, nested };
struct LoadStateOptions {
  bool strict = true;   // the keys must be the same; else what both have is loaded
  bool assign = false;  // the tensors themselves take the place of those in `td`
  StateForm form = StateForm::detect;
};

// The opposite. Tensors keep their identity and get new values, unless `assign`; batch sizes follow the
// metadata. Everything is checked before anything changes.
void load_state_dict(const TensorDict& td, const TensorDict& state,
                     const LoadStateOptions& options);

}  // namespace td
