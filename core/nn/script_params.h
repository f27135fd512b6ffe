// core/nn/script_params.h: parameters and buffers of a TorchScript module as a dictionary, and copies of the
// module with other tensors. Internal, since it includes TorchScript's headers.
#pragma once

#include "core/tree/tensordict.h"

#include <ATen/core/ivalue.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace td {

using ScriptObject = c10::intrusive_ptr<c10::ivalue::Object>;

// The slots of all tensors of a module and its submodules. A shared submodule is visited once.
class ScriptParams {
 public:
  ScriptParams() = default;
  explicit ScriptParams(const ScriptObject& root);

  bool empty() const noexcept { return tensors_.empty(); }

  // The tensors of a module like the root, nested by submodule; omits submodules without tensors.
  TensorDict dictionary(const ScriptObject& root) const;

  // A copy of the root with these tensors, sharing everything else. Tensors have the sizes of the root's,
  // after one batch dimension if the dictionary has one; `wrap` converts each. Throws Code::key_not_found,
  // key_invalid, wrong_entry or shape.
  using Wrap = std::function<at::Tensor(const at::Tensor&)>;
  ScriptObject with(const Node& params, const Wrap* wrap = nullptr) const;

  // A copy of the root with `change` applied to each tensor.
  ScriptObject changed(const Wrap& change) const;

 private:
  struct Slot {
    std::string name;
    std::size_t slot;
    std::size_t tensor = 0;  // its number; a tensor in two slots is one
  };
  struct Child : Slot {
    std::size_t part;
  };
  struct Part {
    ScriptObject object;
    std::vector<Slot> tensors;
    std::vector<Child> children;
    bool holds = false;  // whether it or a submodule has tensors
  };
  class Builder;

  std::size_t add(const ScriptObject& object, std::size_t depth);
  std::size_t number_of(const at::Tensor& tensor);

  std::vector<Part> parts_;
  std::size_t root_ = 0;
  std::vector<at::Tensor> tensors_;
  std::unordered_map<const void*, std::vector<std::size_t>> tensors_at_;  // by their memory
};

}  // namespace td
