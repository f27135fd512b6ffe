// core/math/gradient.h: records, reads and computes gradients of all leaves of a dictionary.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

enum class Detach {
  history,  // drops the history; autograd sees writes through the result
  data,     // autograd does not see writes, either: Python's `.data`
};

// A dictionary over the same memory without history. Keeps the lock.
TensorDict detach(const TensorDict& td, Detach what = Detach::history);

// Drops the history of the leaves themselves. Code::unsupported for views, which libtorch cannot detach.
void detach_inplace(const TensorDict& td);

// Sets requires_grad for each leaf, even if locked. Code::dtype if a leaf is neither floating nor complex, Code::torch
// if it would lose its history.
void set_requires_grad(const TensorDict& td, bool required);

// The gradients of all leaves that have one; nullopt if there are no gradients.
std::optional<TensorDict> gradients(const TensorDict& td);

// Sets the gradients of the leaves with the same paths; other leaves keep theirs. nullptr removes all
// gradients.
void set_gradients(const TensorDict& td, const TensorDict* gradients);

// Removes a leaf's gradient, or fills it with zeros.
void zero_gradient(const at::Tensor& leaf, bool set_to_none);

void zero_gradients(const TensorDict& td, bool set_to_none);

// Shortens all gradients together to `most`, in place, and gives their norm as it was.
double clip_gradients(const TensorDict& td, double most);

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
};

// Computes gradients of the leaves that require one. Without `gradient`, leaves must have one element; with
// `inputs`, only its leaves receive gradients.
void backward(const TensorDict& td, const TensorDict* gradient, const TensorDict* inputs,
              const BackwardOptions& options);

}  // namespace td
