// Arithmetic, comparison and logic: walks the trees of the operands in parallel. math_in_place.cpp writes into
// the first one.
#include "core/math/math.h"

#include "core/base/recursion_guard.h"
#include "core/math/bounds.h"
#include "core/math/math_kernels.h"
#include "core/math/operands.h"
#include "core/math/together.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/scalar.h"
#include "core/tensor/writes.h"
#include "core/tree/batch_op.h"
#include "core/tree/inherit.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/sink.h"

#include <ATen/ScalarOps.h>

namespace td {

namespace math {

namespace {

// Compares non-tensor values: one result for the whole batch.
at::Tensor compare_non_tensor(const Kernel& kernel, const Here& here, NodesHere nodes) {
  const bool equal = kernel.out == kernel_of(Binary::eq_op).out;
  if (!equal && kernel.out != kernel_of(Binary::ne_op).out) {
    fail(Code::dtype, kernel.name, ": ", show_path(here.path()),
         " is non-tensor data: it can be equal or not, but has no order");
  }
  const Node& first = *nodes[0];
  at::Tensor result = at::full(first.batch(), !equal, at::kBool);
  if (nodes.size() < 2 || nodes[1] == nullptr || nodes[1]->batch() != first.batch()) return result;
  const std::vector<const NonTensorNode*> left = non_tensor_values(first),
                                          right = non_tensor_values(*nodes[1]);
  bool* at = result.data_ptr<bool>();
  for (std::size_t i = 0; i < left.size(); ++i)
    at[i] = (left[i] == right[i] || left[i]->value() == right[i]->value()) == equal;
  return first.device() ? result.to(*first.device()) : result;
}

class MathOp final : public ZipOp {
 public:
  MathOp(const Kernel& kernel, const Operands& operands, const Together& together)
      : kernel_(kernel), operands_(operands), together_(together) {}
  at::Tensor leaf(const Here& here, Tensors tensors) const override {
    const at::Tensor &leaf = operands_.at(0, tensors), &b = operands_.at(1, tensors),
                     &c = operands_.at(2, tensors);
    if (at::Tensor made = together_.take(leaf); made.defined()) return made;
    for (const at::Tensor* operand : {&b, &c}) {
      if (operand->defined() && !is_number(leaf))
        require_device(kernel_, "", here.path(), leaf, *operand);
    }
    const FittingBounds fit(kernel_, leaf, b, c, operands_.in_stack(here, tensors));
    return with_room(kernel_, operands_.extra(), leaf.scalar_type(),
                     [&] { return kernel_.out(leaf, fit.b(), fit.c(), operands_.extra()); });
  }
  Value data(const Here& here, NodesHere nodes) const override {
    if (kernel_.result != Result::comparison) return ZipOp::data(here, nodes);
    return compare_non_tensor(kernel_, here, nodes);
  }

 private:
  const Kernel& kernel_;
  const Operands& operands_;
  const Together& together_;
};

// What the walk that asks for the results can take.
Together computed_together(const Kernel& kernel, const Operands& operands, const WalkRules& rules) {
  if (!Together::may(kernel.name)) return Together();
  Together together;
  try {
    visit_zip(
        operands.trees(), Take::elements,
        [&](const Here&, Tensors tensors) {
          together.add(operands.at(0, tensors), operands.at(1, tensors), operands.at(2, tensors));
        },
        rules);
  } catch (const Error&) {
    return Together();  // that walk says it, unless a leaf before it has another fault
  }
  together.compute([&](const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
    const FittingBounds fit(kernel, a, b, c);
    if (c.defined()) return kernel.out(a, fit.b(), fit.c(), operands.extra());
    return kernel.out(a, in_dtype_of(a, fit.b()), c, operands.extra());
  });
  return together;
}

}  // namespace

TensorDict run(const TensorDict& td, const Call& call) {
  const Operands operands(td, call, /*in_place=*/false);
  const WalkRules rules = policy_of(call, false);
  const Together together = computed_together(call.kernel, operands, rules);
  NodePtr result = zip(operands.trees(), MathOp(call.kernel, operands, together), rules);
  if (call.kernel.result == Result::value) inherit_flags(*td.node(), result, /*memmap=*/false);
  return TensorDict(std::move(result));
}

}  // namespace math

namespace {

using math::Call;

Call binary_call(Binary op, c10::ArrayRef<const Operand*> operands, const BinaryOptions& options) {
  Call call{math::kernel_of(op), operands};
  call.extra.scale = options.alpha;
  call.missing = options.missing;
  call.fallback = options.fallback;
  if (!call.kernel.scaled && !options.alpha.equal(1))
    fail(Code::invalid_argument, call.kernel.name, " has no alpha");
  if (call.kernel.result == math::Result::comparison &&
      options.missing != WalkRules::Missing::error)
    fail(Code::invalid_argument, call.kernel.name, " compares dictionaries of the same keys only");
  if (options.missing == WalkRules::Missing::fill && !options.fallback.defined())
    fail(Code::invalid_argument, "no default value for missing entries");
  return call;
}

}  // namespace

TensorDict unary(const TensorDict& td, Unary op) {
  return math::run(td, Call{math::kernel_of(op), {}});
}
void unary_(const TensorDict& td, Unary op) {
  math::run_in_place(td, Call{math::kernel_of(op), {}});
}

TensorDict binary(const TensorDict& td, Binary op, const Operand& other,
                  const BinaryOptions& options) {
  const Operand* const operands[] = {&other};
  return math::run(td, binary_call(op, operands, options));
}
void binary_(const TensorDict& td, Binary op, const Operand& other, const BinaryOptions& options) {
  const Operand* const operands[] = {&other};
  math::run_in_place(td, binary_call(op, operands, options));
}

TensorDict ternary(const TensorDict& td, Ternary op, const Operand& b, const Operand& c,
                   const c10::Scalar& value) {
  const Operand* const operands[] = {&b, &c};
  return math::run(td, Call{math::kernel_of(op), operands, {value}});
}
void ternary_(const TensorDict& td, Ternary op, const Operand& b, const Operand& c,
              const c10::Scalar& value) {
  const Operand* const operands[] = {&b, &c};
  math::run_in_place(td, Call{math::kernel_of(op), operands, {value}});
}

}  // namespace td
