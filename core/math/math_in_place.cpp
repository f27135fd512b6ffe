// Arithmetic that writes into the first operand.
#include "core/math/bounds.h"
#include "core/math/math.h"
#include "core/math/operands.h"
#include "core/math/together.h"
#include "core/tensor/memory_ranges.h"
#include "core/tensor/writes.h"
#include "core/tree/sink.h"
#include "core/tree/sub_node.h"

namespace td::math {

namespace {

// An in-place operation: collects and checks all work before it starts.
class InPlaceMath {
 public:
  InPlaceMath(const Kernel& kernel, const Operands& operands)
      : kernel_(kernel), operands_(operands) {}

  void add(const Here& here, Tensors tensors) {
    if (tensors[0] == nullptr) return;
    const at::Tensor &a = operands_.at(0, tensors), &b = operands_.at(1, tensors),
                     &c = operands_.at(2, tensors);
    const Path path = here.path();
    for (const at::Tensor* operand : {&b, &c}) {
      if (operand->defined()) require_operand(path, a, *operand);
    }
    const FittingBounds fit(kernel_, a, b, c, operands_.in_stack(here, tensors));
    const Job job{a, fit.b(), fit.c()};
    writes_.compute(path, job.a, job.b, job.c);
    try_out(path, job);
    require_divisors(path, job);
  }
  void run() {
    writes_.prepare();
    const Together together = computed_together();
    std::size_t next = 0;
    writes_.run([&](Writes::Write& write) {
      if (together.has(next++)) return;
      at::Tensor target = *write.target;
      kernel_.in(target, *write.sources[0], *write.sources[1], operands_.extra());
    });
    together.write();
  }

 private:
  struct Job {
    const at::Tensor &a, &b, &c;
  };

  // Nothing if a write has to see what the one before has written.
  Together computed_together() const {
    Together together(Together::Hold::borrows);
    if (!Together::may(kernel_.name) || writes_.all().size() < Bundle::few) return together;
    MemoryRanges targets;
    for (const Writes::Write& write : writes_.all()) targets.add(range_of(*write.target));
    targets.sort();
    if (targets.meet_each_other()) return together;
    for (const Writes::Write& write : writes_.all())
      together.add(*write.target, *write.sources[0], *write.sources[1]);
    together.compute([&](at::Tensor a, const at::Tensor& b, const at::Tensor& c) {
      kernel_.in(a, c.defined() ? b : in_dtype_of(a, b), c, operands_.extra());
      return a;
    });
    return together;
  }

  void require_operand(Path path, const at::Tensor& target, const at::Tensor& operand) const {
    if (!broadcasts(operand.sizes(), target.sizes())) {
      fail(Code::shape, kernel_.name, "_: an operand of shape ", show_sizes(operand.sizes()),
           " cannot be broadcast to ", show_path(path), " of shape ", show_sizes(target.sizes()));
    }
    require_device(kernel_, "_", path, target, operand);
  }

  // libtorch detects a zero divisor of integers only after writing other elements.
  void require_divisors(Path path, const Job& job) const {
    if (&kernel_ != &kernel_of(Binary::mod_op) || !job.b.is_cpu()) return;
    if (!c10::isIntegralType(job.a.scalar_type(), true) ||
        !c10::isIntegralType(job.b.scalar_type(), true))
      return;
    if (job.a.numel() == 0 || at::all(job.b).item().toBool()) return;
    fail(Code::torch, kernel_.name, "_: the operand for ", show_path(path),
         " contains 0, and integers cannot be divided by 0");
  }

  // Tries the operation on one element, once for each combination of dtypes, to check that libtorch supports
  // it and can store the result.
  void try_out(Path path, const Job& job) {
    const std::array<std::int32_t, 3> dtypes{mark(job.a), mark(job.b), mark(job.c)};
    const bool known =
        kernel_.any_dtype && (dtypes[0] == plain_float || dtypes[0] == plain_double) &&
        (dtypes[1] == dtypes[0] || dtypes[1] < 0) && (dtypes[2] == dtypes[0] || dtypes[2] < 0);
    if (known || std::find(tried_.begin(), tried_.end(), dtypes) != tried_.end()) return;
    const at::NoGradGuard no_grad;
    at::Tensor one = at::ones(sample_sizes(job.a), job.a.options().requires_grad(false));
    const at::Tensor b = sample(job.b), c = sample(job.c);
    const at::Tensor result = with_room(kernel_, operands_.extra(), job.a.scalar_type(), [&] {
      at::Tensor made = kernel_.out(one, b, c, operands_.extra());
      if (at::canCast(made.scalar_type(), one.scalar_type()))
        kernel_.in(one, b, c, operands_.extra());
      return made;
    });
    if (!at::canCast(result.scalar_type(), job.a.scalar_type())) {
      fail(Code::dtype, kernel_.name, "_: the result for ", show_path(path), " is ",
           dtype_name(result.scalar_type()), ", which cannot be written into ",
           dtype_name(job.a.scalar_type()));
    }
    tried_.push_back(dtypes);
  }

  static constexpr std::int32_t plain_float = static_cast<std::int32_t>(at::kFloat);
  static constexpr std::int32_t plain_double = static_cast<std::int32_t>(at::kDouble);

  // A dtype as a number: distinguishes 0-dimensional tensors, which promote less; negative for scalars that
  // adapt to floats.
  static std::int32_t mark(const at::Tensor& tensor) {
    if (!tensor.defined()) return -1;
    const auto dtype = static_cast<std::int32_t>(tensor.scalar_type());
    if (tensor.dim() != 0) return dtype;
    return at::isComplexType(tensor.scalar_type()) ? 200 + dtype : -2 - dtype;
  }
  static at::Tensor sample(const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.dim() == 0) return tensor;
    return at::ones({1}, tensor.options().requires_grad(false));
  }
  static Sizes sample_sizes(const at::Tensor& tensor) {
    return tensor.dim() == 0 ? Sizes{} : Sizes{1};
  }

  const Kernel& kernel_;
  const Operands& operands_;
  Writes writes_{Writes::Hold::owns};
  c10::SmallVector<std::array<std::int32_t, 3>, 4> tried_;
};

}  // namespace

void run_in_place(const TensorDict& td, const Call& call) {
  if (call.kernel.in == nullptr)
    fail(Code::invalid_argument, call.kernel.name, " cannot be done in place");
  InPlace target(td.node());
  const Operands operands(TensorDict(target.node()), call, /*in_place=*/true);
  InPlaceMath work(call.kernel, operands);
  visit_zip(
      operands.trees(), Take::elements,
      [&](const Here& here, Tensors tensors) { work.add(here, tensors); }, policy_of(call, true));
  work.run();
  target.commit();
}

}  // namespace td::math
