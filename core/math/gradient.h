// core/math/gradient.h: recording, reading and computing the gradients of all leaves of a dictionary.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

enum class Detach {
  history,  // the history is left behind; autograd learns of writes through the result
  data,     // autograd does not learn of them either: Python's `.data`
};

// A dictionary of the same memory without history. The lock is kept.
TensorDict detach(const TensorDict& td, Detach what = Detach::history);

// Takes the history from the leaves themselves. Code::unsupported for a leaf that is a view, which
// libtorch cannot detach.
void detach_inplace(const TensorDict& td);

// Of every leaf; Code::dtype when one is neither floating nor complex, Code::torch when one that has a
// history is to lose it. Allowed when locked.
void set_requires_grad(const TensorDict& td, bool required);

// The gradients of those leaves that have one; nothing when none has.
std::optional<TensorDict> gradients(const TensorDict& td);

// The entries of `gradients` become the gradients of the leaves of the same path; others keep theirs.
// Nothing takes all gradients away.
void set_gradients(const TensorDict& td, const TensorDict* gradients);

// Takes the gradient of one leaf away, or fills it with zeros.
void zero_gradient(const at::Tensor& leaf, bool set_to_none);

// The same for all leaves.
void zero_gradients(const TensorDict& td, bool set_to_none);

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
};

// Gradients of the leaves that require one, with respect to what they were computed from. Without
// `gradient` each of them must have one element; with `inputs` only their leaves receive gradients.
void backward(const TensorDict& td, const TensorDict* gradient, const TensorDict* inputs,
              const BackwardOptions& options);

}  // namespace td
