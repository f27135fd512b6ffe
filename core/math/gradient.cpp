#include "core/math/gradient.h"

#include "core/apply/apply.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/foreign.h"
#include "core/tree/inherit.h"
#include "core/tree/leaf_op.h"
#include "core/tree/show_leaf.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <unordered_set>

namespace td {

namespace {

template <class F>
void each_leaf(const TensorDict& td, F&& f) {
  visit_values(*td.node(), [&](const Value& value) {
    if (!value.is_node()) return f(value.tensor());
    if (!is_nested_tensor(*value.node())) return;
    fail(Code::unsupported, "a nested tensor among the entries has no gradient");
  });
}

template <class F>
void each_leaf_of_path(const TensorDict& td, F&& f) {
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (!value.is_node()) f(path, value.tensor());
  });
}

// The leaves. Those of lazy stacks are read once, so that changing all of them needs no memory.
std::vector<at::Tensor> leaves_of(const TensorDict& td) {
  std::vector<at::Tensor> leaves;
  each_leaf(td, [&](const at::Tensor& leaf) { leaves.push_back(leaf); });
  return leaves;
}

// Makes the autograd data of a leaf. To set a gradient or a flag in it then needs no memory.
void make_autograd_data(const at::Tensor& leaf) { leaf.mutable_grad(); }

// Calls `f(leaf, show)` for each leaf, where show() names the leaf in messages.
template <class F>
void check_leaves(const TensorDict& td, F&& f) {
  each_leaf(td,
            [&](const at::Tensor& leaf) { f([&] { return show_leaf(*td.node(), leaf); }, leaf); });
}

// libtorch warns when asked for the gradient of a non-leaf that does not retain it.
at::Tensor gradient_of(const at::Tensor& leaf) {
  if (!leaf.is_leaf() && !leaf.retains_grad()) return {};
  return leaf.grad();
}

void check_gradient(Path path, const at::Tensor& leaf, const at::Tensor& gradient) {
  if (gradient.sizes() != leaf.sizes()) {
    fail(Code::shape, "the gradient for ", show_path(path), " has shape ",
         show_sizes(gradient.sizes()), ", the entry ", show_sizes(leaf.sizes()));
  }
}

}  // namespace

TensorDict detach(const TensorDict& td, Detach what) {
  const bool fast = fast::can_skip_dispatcher() && what == Detach::history;
  NodePtr result = map(td.node(), LeafOp([&](const at::Tensor& leaf) {
                         if (what == Detach::data) return leaf.variable_data();
                         if (fast && fast::plain(leaf)) {
                           return fast::make_view<fast::Impl>(leaf, leaf.sizes(), leaf.strides(),
                                                              leaf.storage_offset());
                         }
                         return leaf.detach();
                       }));
  inherit_flags(*td.node(), result, /*memmap=*/false);
  return TensorDict(std::move(result));
}

void detach_inplace(const TensorDict& td) {
  check_leaves(td, [](const auto& name, const at::Tensor& leaf) {
    if (leaf.is_view() && leaf.requires_grad()) {
      fail(Code::unsupported, name(),
           " is a view of a tensor with autograd history and cannot be detached in place: detach "
           "the dictionary, or the tensor it is a view of");
    }
  });
  each_leaf(td, [](const at::Tensor& leaf) {
    if (leaf.requires_grad()) leaf.detach_();
  });
}

void set_requires_grad(const TensorDict& td, bool required) {
  check_leaves(td, [&](const auto& name, const at::Tensor& leaf) {
    const c10::ScalarType dtype = leaf.scalar_type();
    if (required && !at::isFloatingType(dtype) && !at::isComplexType(dtype)) {
      fail(Code::dtype, name(), " of ", dtype_name(dtype), " cannot require gradients");
    }
    if (!required && !leaf.is_leaf()) {
      fail(Code::torch, name(),
           " was computed from other tensors and always requires a gradient: detach it");
    }
  });
  const std::vector<at::Tensor> leaves = leaves_of(td);
  if (required) {
    for (const at::Tensor& leaf : leaves) make_autograd_data(leaf);
  }
  for (const at::Tensor& leaf : leaves) set_requires_grad(leaf, required);
}

std::optional<TensorDict> gradients(const TensorDict& td) {
  bool any = false;
  each_leaf(td, [&](const at::Tensor& leaf) { any = any || gradient_of(leaf).defined(); });
  if (!any) return std::nullopt;
  ApplyOptions options;
  options.filter_empty = FilterEmpty::yes;
  return apply(td, options, [](Path, const at::Tensor& leaf) { return gradient_of(leaf); });
}

void set_gradients(const TensorDict& td, const TensorDict* gradients) {
  if (gradients == nullptr) {
    for (const at::Tensor& leaf : leaves_of(td)) {
      if (leaf.unsafeGetTensorImpl()->autograd_meta() != nullptr)
        leaf.mutable_grad() = at::Tensor();
    }
    return;
  }
  std::vector<std::pair<at::Tensor, at::Tensor>> changes;
  each_leaf_of_path(*gradients, [&](Path path, const at::Tensor& gradient) {
    const at::Tensor& leaf = td.get(path);
    check_gradient(path, leaf, gradient);
    if (gradient.scalar_type() != leaf.scalar_type()) {
      fail(Code::dtype, "the gradient for ", show_path(path), " is of ",
           dtype_name(gradient.scalar_type()), ", the entry of ", dtype_name(leaf.scalar_type()));
    }
    if (gradient.device() != leaf.device()) {
      fail(Code::device, "the gradient for ", show_path(path), " lies on \"",
           gradient.device().str(), "\", the entry on \"", leaf.device().str(), "\"");
    }
    changes.emplace_back(leaf, gradient);
    make_autograd_data(leaf);
  });
  for (const auto& [leaf, gradient] : changes) leaf.mutable_grad() = gradient;
}

void zero_gradient(const at::Tensor& leaf, bool set_to_none) {
  const at::Tensor gradient = gradient_of(leaf);
  if (!gradient.defined()) return;
  if (set_to_none) {
    leaf.mutable_grad() = at::Tensor();
    return;
  }
  if (gradient.is_leaf()) {
    gradient.requires_grad_(false);
  } else {
    gradient.detach_();
  }
  gradient.zero_();
}

void zero_gradients(const TensorDict& td, bool set_to_none) {
  each_leaf(td, [&](const at::Tensor& leaf) { zero_gradient(leaf, set_to_none); });
}

double clip_gradients(const TensorDict& td, double most) {
  if (!(most >= 0)) fail(Code::invalid_argument, "a norm of at most ", most);
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  std::unordered_set<const c10::TensorImpl*> seen;  // a tensor may stand in several places
  for (const at::Tensor& leaf : leaves_of(td)) {
    at::Tensor gradient = gradient_of(leaf);
    if (!gradient.defined() || !seen.insert(gradient.unsafeGetTensorImpl()).second) continue;
    if (gradient.layout() != at::kStrided) fail(Code::unsupported, "a gradient is sparse");
    gradients.push_back(std::move(gradient));
  }
  double squares = 0;
  for (const at::Tensor& gradient : gradients) {
    const auto norm = at::linalg_vector_norm(gradient).item<double>();
    squares += norm * norm;
  }
  const double norm = std::sqrt(squares);
  const double factor = most / (norm + 1e-6);  // as Python
  if (!(factor >= 1)) {
    for (const at::Tensor& gradient : gradients) gradient.mul_(factor);
  }
  return norm;
}

void backward(const TensorDict& td, const TensorDict* gradient, const TensorDict* inputs,
              const BackwardOptions& options) {
  std::vector<at::Tensor> outputs, seeds, receivers;
  const at::AutoGradMode recording(true);  // reading a lazy stack must be recorded
  each_leaf_of_path(TensorDict(all_dense(td.node())), [&](Path path, const at::Tensor& leaf) {
    if (!leaf.requires_grad()) return;
    if (gradient != nullptr) {
      const at::Tensor& seed = gradient->get(path);
      check_gradient(path, leaf, seed);
      seeds.push_back(seed);
    } else if (leaf.numel() != 1) {
      fail(
          Code::shape, show_path(path), " has shape ", show_sizes(leaf.sizes()),
          ": without initial gradients, every entry that requires gradients must have one element");
    }
    outputs.push_back(leaf);
  });
  if (outputs.empty()) fail(Code::torch, "no entry requires a gradient");
  if (inputs != nullptr) {
    each_leaf_of_path(*inputs, [&](Path path, const at::Tensor& leaf) {
      if (!leaf.requires_grad()) {
        fail(Code::torch, "the input ", show_path(path), " requires no gradient");
      }
      receivers.push_back(leaf);
    });
    if (receivers.empty()) fail(Code::torch, "the inputs hold no tensor");
  }
  torch::autograd::backward(outputs, seeds, options.retain_graph || options.create_graph,
                            options.create_graph, receivers);
}

}  // namespace td
