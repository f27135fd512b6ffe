// Arithmetic, comparison and logic: converts operands to trees or scalars, then walks the trees in parallel.
#include "core/math/math.h"

#include "core/base/recursion_guard.h"
#include "core/math/math_kernels.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/scalar.h"
#include "core/tensor/writes.h"
#include "core/tree/batch_op.h"
#include "core/tree/inherit.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ScalarOps.h>
#include <ATen/native/TypeProperties.h>

namespace td {

namespace math {

namespace {

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

// Throws Code::dtype if a scalar bound does not fit the result's dtype, in which it would wrap around.
void require_bounds_fit(const Kernel& kernel, const Extra& extra,
                        std::initializer_list<const at::Tensor*> tensors) {
  at::native::ResultTypeState state;
  for (const at::Tensor* tensor : tensors) {
    if (tensor->defined()) state = at::native::update_result_type_state(*tensor, state);
  }
  const c10::ScalarType dtype = at::native::result_type(state);
  const std::optional<c10::Scalar>* number = extra.numbers;
  for (const at::Tensor* tensor : tensors) {
    if (*number) {
      require_fits(**number, dtype, kernel.name);
    } else if (tensor->defined() && tensor->dim() == 0 && tensor->scalar_type() != dtype) {
      require_fits(tensor->item(), dtype, kernel.name);
    }
    ++number;
  }
}

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
    at[i] = (left[i] == right[i] || left[i]->json() == right[i]->json()) == equal;
  return first.device() ? result.to(*first.device()) : result;
}

class MathOp final : public ZipOp {
 public:
  MathOp(const Kernel& kernel, const Operands& operands) : kernel_(kernel), operands_(operands) {}
  at::Tensor leaf(const Here&, Tensors tensors) const {
    const at::Tensor& leaf = operands_.at(0, tensors);
    const at::Tensor &b = operands_.at(1, tensors), &c = operands_.at(2, tensors);
    if (kernel_.bounds) require_bounds_fit(kernel_, operands_.extra(), {&leaf, &b, &c});
    return with_room(kernel_, operands_.extra(), leaf.scalar_type(),
                     [&] { return kernel_.out(leaf, b, c, operands_.extra()); });
  }
  Value data(const Here& here, NodesHere nodes) const override {
    if (kernel_.result != Result::comparison) return ZipOp::data(here, nodes);
    return compare_non_tensor(kernel_, here, nodes);
  }

 private:
  const Kernel& kernel_;
  const Operands& operands_;
};

// An in-place operation: collects and checks all work before it starts.
class InPlaceMath {
 public:
  InPlaceMath(const Kernel& kernel, const Operands& operands)
      : kernel_(kernel), operands_(operands) {}

  void add(const Here& here, Tensors tensors) {
    if (tensors[0] == nullptr) return;
    const Job job{operands_.at(0, tensors), operands_.at(1, tensors), operands_.at(2, tensors)};
    for (const at::Tensor* operand : {&job.b, &job.c}) {
      if (operand->defined()) require_operand(here.path(), job.a, *operand);
    }
    if (kernel_.bounds) require_bounds_fit(kernel_, operands_.extra(), {&job.a, &job.b, &job.c});
    writes_.compute(here.path(), job.a, job.b, job.c);
    try_out(here.path(), job);
    require_divisors(here.path(), job);
  }
  void run() {
    writes_.run([&](Writes::Write& write) {
      at::Tensor target = *write.target;
      kernel_.in(target, *write.sources[0], *write.sources[1], operands_.extra());
    });
  }

 private:
  struct Job {
    const at::Tensor &a, &b, &c;
  };

  void require_operand(Path path, const at::Tensor& target, const at::Tensor& operand) const {
    if (!broadcasts(operand.sizes(), target.sizes())) {
      fail(Code::shape, kernel_.name, "_: an operand of shape ", show_sizes(operand.sizes()),
           " cannot be broadcast to ", show_path(path), " of shape ", show_sizes(target.sizes()));
    }
    if (operand.device() != target.device() && (operand.dim() != 0 || !operand.is_cpu())) {
      fail(Code::device, kernel_.name, "_: the operand for ", show_path(path), " is on ",
           operand.device().str(), ", the tensor on ", target.device().str());
    }
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

WalkRules policy_of(const Call& call, bool in_place) {
  WalkRules policy;
  policy.missing = call.missing;
  policy.ignore_extra = in_place;
  policy.what = call.kernel.name;
  return policy;
}

}  // namespace

TensorDict run(const TensorDict& td, const Call& call) {
  const Operands operands(td, call, /*in_place=*/false);
  NodePtr result = zip(operands.trees(), MathOp(call.kernel, operands), policy_of(call, false));
  if (call.kernel.result == Result::value) inherit_flags(*td.node(), result, /*memmap=*/false);
  return TensorDict(std::move(result));
}

void run_in_place(const TensorDict& td, const Call& call) {
  if (call.kernel.in == nullptr)
    fail(Code::invalid_argument, call.kernel.name, " cannot be done in place");
  InPlace target(td.node());
  const Operands operands(TensorDict(target.node()), call, /*in_place=*/true);
  InPlaceMath work(call.kernel, operands);
  visit_zip<Take::elements>(
      operands.trees(), [&](const Here& here, Tensors tensors) { work.add(here, tensors); },
      policy_of(call, true));
  work.run();
  target.commit();
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
