// core/math/operands.h: the operands of a call as trees and scalars.
#pragma once

#include "core/base/recursion_guard.h"
#include "core/math/bounds.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/scalar.h"
#include "core/tree/batch_op.h"
#include "core/tree/zip.h"

#include <ATen/ScalarOps.h>

namespace td::math {

// A tensor over the batch as a tree: each leaf gets the tensor with trailing dimensions of size 1.
class Spread final : public BatchOp {
 public:
  // `tensor` has the batch's number of dimensions.
  explicit Spread(at::Tensor tensor) : dims_(tensor.dim()) { views_.push_back(std::move(tensor)); }
  Sizes batch(SizesView before) const override { return {before.begin(), before.end()}; }
  bool keeps_batch() const override { return true; }
  void tags(const Node&, Node&) const override {}

  at::Tensor leaf(const at::Tensor& before) const override {
    const auto features = static_cast<std::size_t>(before.dim() - dims_);
    while (views_.size() <= features) views_.push_back(views_.back().unsqueeze(-1));
    return views_[features];
  }

  NodePtr lazy(const LazyNode& node) const override {
    const RecursionGuard bounded;
    const std::int64_t dim = node.stack_dim();
    std::int64_t next = 0;
    std::vector<NodePtr> elements = node.each([&](const NodePtr& element) {
      if (dim >= dims_) return map(element, *this);
      const std::int64_t at = views_[0].size(dim) == 1 ? 0 : next++;
      return map(element, Spread(views_[0].select(dim, at)));
    });
    return c10::make_intrusive<LazyNode>(std::move(elements), dim, node.batch(), node.device(),
                                         node.holds_non_tensor());
  }

 private:
  mutable c10::SmallVector<at::Tensor, 4> views_;
  std::int64_t dims_;
};

// The converted operands of a call.
class Operands {
 public:
  Operands(const TensorDict& td, const Call& call, bool in_place) : call_(call) {
    const Sizes batch = common_batch(td);
    if (in_place && SizesView(batch) != td.batch_size()) {
      fail(Code::shape, call.kernel.name, "_: an operand of batch size ", show_sizes(batch),
           " cannot be written into batch size ", show_sizes(td.batch_size()));
    }
    const TensorDict self = expanded(td, batch);
    trees_.push_back(self.node());
    for (const Operand* operand : call.operands) add(self, *operand, batch);
  }

  c10::ArrayRef<NodePtr> trees() const noexcept { return trees_; }

  // Operand k for a leaf; 0 is the dictionary.
  const at::Tensor& at(std::size_t k, Tensors tensors) const noexcept {
    static const at::Tensor* const nothing = new at::Tensor;  // never destroyed
    if (k == 0) return pick(tensors[0]);
    if (k > sources_.size()) return *nothing;
    const Source& source = sources_[k - 1];
    return source.tree == 0 ? source.constant : pick(tensors[source.tree]);
  }
  const Extra& extra() const noexcept { return extra_; }
  InStack in_stack(const Here& here, Tensors tensors) const noexcept {
    InStack result{};
    for (std::size_t k = 0; here.in_stack() && k <= sources_.size(); ++k) {
      const std::size_t tree = k == 0 ? 0 : sources_[k - 1].tree;
      if (k != 0 && tree == 0) continue;
      result[k] = tensors[tree] != nullptr && tensors[tree]->dim() == 0;
    }
    return result;
  }

 private:
  struct Source {
    std::size_t tree;  // 0: a constant
    at::Tensor constant;
  };

  const at::Tensor& pick(const at::Tensor* tensor) const noexcept {
    return tensor == nullptr ? call_.fallback : *tensor;
  }

  static TensorDict expanded(const TensorDict& td, const Sizes& batch) {
    return td.batch_size() == SizesView(batch) ? td : td.expand(batch);
  }

  Sizes common_batch(const TensorDict& td) const {
    Sizes batch(td.batch_size().begin(), td.batch_size().end());
    for (const Operand* operand : call_.operands) {
      const TensorDict* dict = std::get_if<TensorDict>(operand);
      const at::Tensor* tensor = std::get_if<at::Tensor>(operand);
      if (dict == nullptr && (tensor == nullptr || tensor->dim() == 0)) continue;
      const SizesView sizes = dict != nullptr ? dict->batch_size() : tensor->sizes();
      if (sizes == SizesView(batch)) continue;
      const std::size_t dims = std::max(sizes.size(), batch.size());
      Sizes both(dims, 1);
      for (std::size_t i = 1; i <= dims; ++i) {
        const std::int64_t one = i <= batch.size() ? batch[batch.size() - i] : 1;
        const std::int64_t other = i <= sizes.size() ? sizes[sizes.size() - i] : 1;
        if (one != other && one != 1 && other != 1) {
          fail(Code::shape, call_.kernel.name, ": ", dict != nullptr ? "batch size " : "shape ",
               show_sizes(sizes), " of the operand cannot be broadcast with batch size ",
               show_sizes(td.batch_size()));
        }
        both[dims - i] = one == 1 ? other : one;
      }
      batch = both;
    }
    return batch;
  }

  void add(const TensorDict& self, const Operand& operand, const Sizes& batch) {
    const std::size_t k = sources_.size() + 1;
    if (const TensorDict* dict = std::get_if<TensorDict>(&operand)) {
      sources_.push_back({trees_.size(), {}});
      trees_.push_back(expanded(*dict, batch).node());
    } else if (const c10::Scalar* number = std::get_if<c10::Scalar>(&operand)) {
      extra_.numbers[k] = *number;
      sources_.push_back({0, at::native::wrapped_scalar_tensor(*number)});
    } else if (const at::Tensor& tensor = std::get<at::Tensor>(operand); tensor.dim() == 0) {
      sources_.push_back({0, tensor});
    } else {
      Sizes sizes(batch.size() - static_cast<std::size_t>(tensor.dim()), 1);
      sizes.append(tensor.sizes().begin(), tensor.sizes().end());
      sources_.push_back({trees_.size(), {}});
      trees_.push_back(map(self.node(), Spread(tensor.reshape(sizes))));
    }
  }

  const Call& call_;
  Extra extra_ = call_.extra;
  std::vector<NodePtr> trees_;
  c10::SmallVector<Source, 2> sources_;
};

inline bool is_number(const at::Tensor& tensor) noexcept {
  return tensor.dim() == 0 && tensor.is_cpu();
}

// An operand lies beside its tensor, or is a number in main memory. `mark` follows the name of the operation.
inline void require_device(const Kernel& kernel, const char* mark, Path path,
                           const at::Tensor& tensor, const at::Tensor& operand) {
  if (operand.device() == tensor.device() || is_number(operand)) return;
  fail(Code::device, kernel.name, mark, ": the operand for ", show_path(path), " is on ",
       operand.device().str(), ", the tensor on ", tensor.device().str());
}

// Calls a kernel. If a number does not fit a dtype, libtorch throws an exception that is not a c10::Error.
template <class F>
auto with_room(const Kernel& kernel, const Extra& extra, c10::ScalarType dtype, F&& f) {
  try {
    return f();
  } catch (const std::runtime_error& error) {
    std::string numbers = extra.scale.equal(1) ? "" : show_number(extra.scale);
    for (const std::optional<c10::Scalar>& number : extra.numbers) {
      if (number) numbers += (numbers.empty() ? "" : ", ") + show_number(*number);
    }
    fail(Code::dtype, kernel.name, ": the number ", numbers, " does not fit into ",
         dtype_name(dtype), ": ", error.what());
  }
}

inline WalkRules policy_of(const Call& call, bool in_place) {
  WalkRules policy;
  policy.missing = call.missing;
  policy.ignore_extra = in_place;
  policy.what = call.kernel.name;
  return policy;
}

}  // namespace td::math
