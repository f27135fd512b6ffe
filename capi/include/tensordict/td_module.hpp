// tensordict/td_module.hpp: parameters of a torch::nn::Module as a dictionary, and back (C++: td_torch::from_module, ToModule; Python: TensorDictParams, from_module, to_module).
//
// Not part of the ABI: host and library must use the same libtorch.
#ifndef TENSORDICT_TD_MODULE_HPP
#define TENSORDICT_TD_MODULE_HPP

#include "tensordict/td_torch.hpp"

#include <torch/nn/module.h>

#include <utility>
#include <vector>

namespace td_torch {

constexpr int32_t host_torch = 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR;

// Opens a new handle on the very tensor, with its autograd history and gradient; free it with
// td_tensor_free(). to_handle() shares only the memory.
inline td_tensor* to_same_handle(const at::Tensor& tensor) {
  if (!tensor.defined()) throw std::invalid_argument("td_torch: the tensor is undefined");
  td_tensor* handle = nullptr;
  check(td_tensor_from_torch(tensor.unsafeGetTensorImpl(), host_torch, &handle));
  return handle;
}

// The very tensor of a borrowed handle.
inline at::Tensor from_same_handle(const td_tensor* handle) {
  void* impl = nullptr;
  check(td_tensor_to_torch(handle, host_torch, &impl));
  return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(
      static_cast<c10::TensorImpl*>(impl)));
}

namespace detail {

using Names = std::vector<std::string>;

inline std::vector<const char*> c_path(const Names& names) {
  std::vector<const char*> path;
  for (const std::string& name : names) path.push_back(name.c_str());
  return path;
}

inline std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ".") + name;
  return text;
}

inline void put(td_tensordict* td, const Names& names, const at::Tensor& tensor) {
  const std::unique_ptr<td_tensor, void (*)(td_tensor*)> handle(to_same_handle(tensor),
                                                               td_tensor_free);
  const auto path = c_path(names);
  check(td_set(td, path.data(), path.size(), handle.get()));
}

inline at::Tensor get(const td_tensordict* td, const Names& names) {
  const auto path = c_path(names);
  td_tensor* raw = nullptr;
  check(td_get(td, path.data(), path.size(), &raw));
  const std::unique_ptr<td_tensor, void (*)(td_tensor*)> handle(raw, td_tensor_free);
  return from_same_handle(handle.get());
}

// The paths of all tensors.
inline std::vector<Names> leaves(const td_tensordict* td) {
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  options.include_nested = options.leaves_only = 1;
  td_keys* raw = nullptr;
  check(td_keys_of(td, &options, &raw));
  const std::unique_ptr<td_keys, void (*)(td_keys*)> keys(raw, td_keys_free);
  std::vector<Names> result;
  for (size_t i = 0; i < td_keys_len(raw); ++i) {
    const char* const* path = nullptr;
    size_t length = 0;
    check(td_keys_at(raw, i, &path, &length));
    result.emplace_back(path, path + length);
  }
  return result;
}

inline Dict empty() {
  td_tensordict* td = nullptr;
  check(td_create(nullptr, 0, TD_DEVICE_NONE, -1, &td));
  return Dict(td);
}

// The parameter or buffer with this key, or an undefined tensor.
inline at::Tensor find(const torch::nn::Module& root, const Names& names) {
  const torch::nn::Module* module = &root;
  std::shared_ptr<torch::nn::Module> held;
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    const auto children = module->named_children();
    const auto* child = children.find(names[i]);
    if (child == nullptr) return {};
    held = *child;
    module = held.get();
  }
  const auto parameters = module->named_parameters(/*recurse=*/false);
  if (const at::Tensor* found = parameters.find(names.back())) return *found;
  const auto buffers = module->named_buffers(/*recurse=*/false);
  if (const at::Tensor* found = buffers.find(names.back())) return *found;
  return {};
}

}  // namespace detail

// The parameters and buffers of a module themselves, nested like its sub-modules, without batch
// dimensions. Parameters that the module shares are shared in the dictionary. Sub-modules without
// parameters or buffers are left out. Python: from_module.
inline Dict from_module(const torch::nn::Module& module) {
  Dict result = detail::empty();
  std::vector<std::pair<std::shared_ptr<const torch::nn::Module>, detail::Names>> pending;
  const auto add = [&](const torch::nn::Module& one, const detail::Names& at) {
    const auto put = [&](const auto& entries) {
      for (const auto& entry : entries) {
        if (!entry.value().defined()) continue;
        detail::Names names = at;
        names.push_back(entry.key());
        detail::put(result.handle(), names, entry.value());
      }
    };
    put(one.named_parameters(/*recurse=*/false));
    put(one.named_buffers(/*recurse=*/false));
    const auto children = one.named_children();
    for (size_t i = children.size(); i-- > 0;) {
      detail::Names names = at;
      names.push_back(children[i].key());
      pending.emplace_back(children[i].value(), std::move(names));
    }
  };
  add(module, {});
  while (!pending.empty()) {
    const auto next = std::move(pending.back());
    pending.pop_back();
    add(*next.first, next.second);
  }
  return result;
}

// The stacked copies of the parameters of an ensemble: batch size [modules]. They require gradients where
// those of the first module do. Each element fits into any of the modules. Python: from_modules.
inline Dict from_modules(const std::vector<std::shared_ptr<torch::nn::Module>>& modules) {
  std::vector<Dict> parts;
  std::vector<const td_tensordict*> sources;
  for (const auto& module : modules) {
    parts.push_back(from_module(*module));
    sources.push_back(parts.back().handle());
  }
  td_tensordict* raw = nullptr;
  check(td_stack(sources.data(), sources.size(), 0, &raw));
  Dict result(raw);
  for (const detail::Names& names : detail::leaves(raw)) {
    if (!detail::find(*modules.front(), names).requires_grad()) continue;
    detail::get(raw, names).requires_grad_();
  }
  return result;
}

// Swaps the tensors of a dictionary into a module while the object lives, and restores the previous ones
// afterwards, also when an exception leaves the scope. Nested objects must end in reverse order.
//
// A C++ module holds its parameters in members, so these stay the same objects: only their memory and
// gradients are swapped. Within the scope
//  - backward() adds to the gradients of the dictionary's tensors, not to those of the module;
//  - the module's own tensors, also in a dictionary from from_module(), show the values swapped in.
// Call backward() within the scope for what you computed there: later libtorch refuses it with "modified
// by an inplace operation". Tensors that were computed from others receive no gradient.
//
// Parameters that the dictionary lacks stay. Throws std::invalid_argument, and changes nothing, if the
// module lacks a key, or a tensor differs in sizes, dtype or device. Python: to_module.
class ToModule {
 public:
  ToModule(const td_tensordict* td, torch::nn::Module& module) {
    for (const detail::Names& names : detail::leaves(td)) {
      at::Tensor target = detail::find(module, names);
      if (!target.defined()) {
        throw std::invalid_argument("td_torch: the module has no parameter or buffer " +
                                    detail::joined(names));
      }
      at::Tensor source = detail::get(td, names);
      if (source.sizes() != target.sizes() || source.dtype() != target.dtype() ||
          source.device() != target.device()) {
        throw std::invalid_argument("td_torch: the tensor for " + detail::joined(names) +
                                    " differs in sizes, dtype or device");
      }
      if (!source.is_same(target)) swaps_.push_back({names, target, source, {}, {}});
    }
    // Keeps the old memory. All before the first swap: a parameter stored in two places is swapped twice.
    for (Swap& swap : swaps_) swap.before = swap.target.detach();
    try {
      for (; done_ < swaps_.size(); ++done_) swap_in(swaps_[done_]);
    } catch (...) {
      restore();
      throw;
    }
  }
  ToModule(const ToModule&) = delete;
  ToModule& operator=(const ToModule&) = delete;
  ~ToModule() { restore(); }

  // The previous values under the same keys: new tensors over the previous memory.
  Dict before() const {
    Dict result = detail::empty();
    for (const Swap& swap : swaps_) detail::put(result.handle(), swap.names, swap.before);
    return result;
  }

 private:
  struct Swap {
    detail::Names names;
    at::Tensor target, source, before, gradient;
  };

  static bool receives(const at::Tensor& source) {
    return source.is_leaf() && source.requires_grad();
  }

  static void put_memory(const at::Tensor& target, const at::Tensor& memory) {
    target.set_data(memory);
    // A graph recorded with the other memory must not be used with this one.
    target.unsafeGetTensorImpl()->bump_version();
  }

  static void swap_in(Swap& swap) {
    swap.gradient = gradient_of(swap.target);
    put_memory(swap.target, swap.source.detach());
    swap.target.mutable_grad() = receives(swap.source) ? swap.source.grad() : at::Tensor();
  }

  static at::Tensor gradient_of(const at::Tensor& tensor) {
    return tensor.is_leaf() ? tensor.grad() : at::Tensor();
  }

  void restore() {
    while (done_ > 0) {
      Swap& swap = swaps_[--done_];
      if (receives(swap.source)) swap.source.mutable_grad() = gradient_of(swap.target);
      put_memory(swap.target, swap.before);
      swap.target.mutable_grad() = swap.gradient;
    }
  }

  std::vector<Swap> swaps_;
  size_t done_ = 0;
};

// Writes the values of a dictionary into the tensors of a module, permanently.
inline void copy_to_module(const td_tensordict* td, torch::nn::Module& module) {
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;
  for (const detail::Names& names : detail::leaves(td)) {
    copies.emplace_back(detail::find(module, names), detail::get(td, names));
    if (!copies.back().first.defined() ||
        copies.back().first.sizes() != copies.back().second.sizes()) {
      throw std::invalid_argument("td_torch: the module has no tensor of these sizes for " +
                                  detail::joined(names));
    }
  }
  const at::NoGradGuard off;
  for (const auto& copy : copies) copy.first.copy_(copy.second);
}

}  // namespace td_torch

#endif
