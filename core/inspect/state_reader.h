// core/inspect/state_reader.h: a state read in step with the dictionary that it is loaded into. Internal.
#pragma once

#include "core/tree/tensordict.h"

#include <memory>
#include <string>
#include <vector>

namespace td {

// The tensors of a state. A reader owns what it returns.
class StateReader {
 public:
  virtual ~StateReader() = default;

  // Goes down to a nested dictionary, which the state may lack, and back.
  virtual void enter(std::string_view name) = 0;
  virtual void leave() = 0;

  // The tensor of this name in the open dictionary, or nullptr. Counts as used.
  virtual const at::Tensor* take(std::string_view name) = 0;

  // The open dictionary for each of `n` elements stacked along `dim`: the dictionary under its number, or else a
  // part of each tensor. All of it counts as used. Throws Code::shape for a tensor that has no such parts.
  virtual std::vector<std::unique_ptr<StateReader>> split(std::size_t n, std::int64_t dim) = 0;

  // The number of tensors that were not used, and the paths of some, given what was read in step.
  virtual std::size_t unused() const = 0;
  virtual std::vector<std::string> unused_paths(const NodePtr& td, std::size_t most) const = 0;
};

// With tensors under joined names, and with nested dictionaries. `state` is dense.
std::unique_ptr<StateReader> read_flat(const NodePtr& state);
std::unique_ptr<StateReader> read_nested(const NodePtr& state);

}  // namespace td
