// core/nn/script_params.h: the parameters and buffers of a TorchScript module as a dictionary, and the module
// with others in their place. For the core's own sources that include TorchScript's headers.
#pragma once

#include "core/tree/tensordict.h"

#include <ATen/core/ivalue.h>

#include <functional>
#include <string>
#include <vector>

namespace td {

using ScriptObject = c10::intrusive_ptr<c10::ivalue::Object>;

// Where the tensors of a module and of all modules in it stand. Modules that stand in several places are
// visited once.
class ScriptParams {
 public:
  ScriptParams() = default;
  explicit ScriptParams(const ScriptObject& root);

  bool empty() const noexcept { return count_ == 0; }

  // The tensors of a module like the root, nested by sub-modules. Those without any are left out.
  TensorDict dictionary(const ScriptObject& root) const;

  // A copy of the root that has these tensors, and shares all else with it. Each tensor has the sizes of
  // the root's, behind one batch dimension where the dictionary has one; `wrap` makes of it what the copy
  // gets. Throws Code::key_not_found, key_invalid, wrong_entry or shape.
  using Wrap = std::function<at::Tensor(const at::Tensor&)>;
  ScriptObject with(const Node& params, const Wrap* wrap = nullptr) const;

  // A copy of the root with what `change` makes of each tensor.
  ScriptObject changed(const Wrap& change) const;

 private:
  struct Slot {
    std::string name;
    std::size_t slot;
  };
  struct Child : Slot {
    std::size_t part;
  };
  struct Part {
    ScriptObject object;
    std::vector<Slot> tensors;
    std::vector<Child> children;
    bool holds = false;  // tensors, in it or below
  };
  class Builder;

  std::size_t add(const ScriptObject& object, std::size_t depth);

  std::vector<Part> parts_;
  std::size_t root_ = 0;
  std::size_t count_ = 0;
};

}  // namespace td
