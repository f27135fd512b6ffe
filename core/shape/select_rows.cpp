// Selects positions along dimensions: repeat, roll, flip and others differ only in the positions.
#include "core/shape/select_rows.h"

#include "core/base/recursion_guard.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/view_ops.h"

#include "core/tensor/assign.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tree/batch_op.h"
#include "core/tree/inherit.h"
#include "core/tree/nested_tensor.h"

#include <ATen/ATen.h>

#include <functional>

namespace td {

namespace {

// A plan that selects positions along one dimension, or along several by index tensors of one shape.
IndexPlan pick(SizesView batch, std::int64_t dim, c10::ArrayRef<at::Tensor> positions) {
  std::vector<IndexItem> items(static_cast<std::size_t>(dim), IndexItem::range({}, {}));
  for (const at::Tensor& one : positions) items.push_back(IndexItem::of(one));
  return IndexPlan(items, batch);
}

// Computes the positions along one dimension from its size.
struct Step {
  std::int64_t dim;
  std::function<at::Tensor(std::int64_t size)> positions;
};

// Applies selections in order. The result is contiguous.
class PickOp final : public BatchOp {
 public:
  PickOp(SizesView batch, std::vector<Step> steps)
      : now_(batch.begin(), batch.end()), steps_(std::move(steps)) {
    if (is_uneven(batch)) return;  // the elements of this lazy stack make their own plans
    for (const Step& step : steps_) {
      const at::Tensor positions = step.positions(now_[static_cast<std::size_t>(step.dim)]);
      plans_.push_back(pick(now_, step.dim, positions));
      now_ = plans_.back().sizes(now_);
    }
  }
  PickOp& without_names() {
    keeps_names_ = false;
    return *this;
  }
  // Selects along all dimensions at once, with an index tensor for each.
  PickOp(SizesView batch, c10::ArrayRef<at::Tensor> positions)
      : now_(batch.begin(), batch.end()), whole_(true) {
    if (!positions.empty()) plans_.push_back(pick(now_, 0, positions));
  }

  Sizes batch(SizesView before) const override {
    Sizes sizes(before.begin(), before.end());
    for (const IndexPlan& plan : plans_) sizes = plan.sizes(sizes);
    return sizes;
  }
  at::Tensor leaf(const at::Tensor& before) const override {
    if (plans_.empty()) return copy_of(before, fast_).contiguous();
    at::Tensor result = before;
    for (const IndexPlan& plan : plans_) result = plan.read(result, fast_);
    return result.contiguous();
  }
  Value nested_tensor(const NestedTensorNode& node) const override {
    return rearranged(node, *this);
  }
  void tags(const Node& before, Node& after) const override {
    if (keeps_names_) return BatchOp::tags(before, after);
    after.set_tensorclass(before.tensorclass());
  }

  // Along the dimension of the stack, selects elements; along others, selects within each element, since
  // shapes, keys and sizes may differ.
  NodePtr lazy(const LazyNode& node) const override {
    if (node.holds_non_tensor() || whole_) return BatchOp::lazy(node);
    const RecursionGuard guard;
    const std::int64_t stack = node.stack_dim();
    const auto dims = static_cast<std::int64_t>(now_.size());
    std::vector<NodePtr> picked = node.elements();
    std::vector<Step> inner;
    for (const Step& step : steps_) {
      if (step.dim != stack) {
        inner.push_back({step.dim > stack ? step.dim - 1 : step.dim, step.positions});
        continue;
      }
      const at::Tensor positions = step.positions(static_cast<std::int64_t>(picked.size()));
      const std::int64_t* at = positions.data_ptr<std::int64_t>();
      std::vector<NodePtr> next;
      for (std::int64_t i = 0; i < positions.numel(); ++i) {
        next.push_back(picked[static_cast<std::size_t>(at[i])]);
      }
      picked = std::move(next);
    }
    const auto element_dims = static_cast<std::size_t>(stack < dims ? dims - 1 : dims);
    for (NodePtr& element : picked) {
      PickOp op(element->batch().slice(0, element_dims), inner);
      if (!keeps_names_) op.without_names();
      element = element->transform(op);
    }
    const Sizes batch = is_uneven(node.batch()) ? Sizes(node.batch().begin(), node.batch().end())
                                                : this->batch(node.batch());
    auto result =
        c10::make_intrusive<LazyNode>(std::vector<NodePtr>{}, stack, batch, device(node.device()));
    result->set_elements(std::move(picked));
    if (node.tagged()) tags(node, *result);
    return result;
  }

 private:
  Sizes now_;
  std::vector<Step> steps_;
  bool whole_ = false;
  bool keeps_names_ = true;
  std::vector<IndexPlan> plans_;
  bool fast_ = fast::can_skip_dispatcher();
};

template <class Op>
TensorDict run_map(const TensorDict& td, const Op& op) {
  NodePtr result = map(td.node(), op);
  inherit_flags(*td.node(), result, /*memmap=*/false);
  return TensorDict(std::move(result));
}

std::int64_t dims_of(const TensorDict& td) {
  return static_cast<std::int64_t>(td.batch_size().size());
}

std::int64_t wrap(const TensorDict& td, std::int64_t dim) {
  return wrap_dim(dim, dims_of(td), Code::index, td.batch_size());
}

// Refuses a dimension that occurs twice.
Sizes wrap_all(const TensorDict& td, SizesView dims, const char* name) {
  Sizes result;
  for (const std::int64_t asked : dims) {
    const std::int64_t dim = wrap(td, asked);
    if (std::find(result.begin(), result.end(), dim) != result.end()) {
      fail(Code::shape, name, " was given dimension ", asked, " twice");
    }
    result.push_back(dim);
  }
  return result;
}

// Position i becomes i - shift.
at::Tensor rolled(std::int64_t size, std::int64_t shift) {
  if (size == 0) return at::arange(0, at::kLong);
  shift %= size;
  if (shift < 0) shift += size;
  return (at::arange(size, at::kLong) + (size - shift)).remainder(size);
}

}  // namespace

namespace {

PickOp repetition(const TensorDict& td, SizesView counts) {
  const SizesView batch = td.batch_size();
  bool valid = counts.size() == batch.size();
  for (const std::int64_t count : counts) valid = valid && count >= 0;
  if (!valid) {
    fail(Code::shape, "repeat needs one count of at least 0 for each dimension of batch size ",
         show_sizes(batch), ", found ", show_sizes(counts));
  }
  std::vector<Step> steps;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (counts[i] == 1) continue;
    steps.push_back({static_cast<std::int64_t>(i), [count = counts[i]](std::int64_t size) {
                       std::int64_t length;
                       if (__builtin_mul_overflow(size, count, &length)) {
                         fail(Code::shape, "a dimension of size ", size, " cannot be repeated ",
                              count, " times");
                       }
                       at::Tensor positions = at::arange(length, at::kLong);
                       return size == 0 ? positions : positions.remainder_(size);
                     }});
  }
  return PickOp(batch, std::move(steps));
}

}  // namespace

TensorDict repeat(const TensorDict& td, SizesView counts) {
  return run_map(td, repetition(td, counts));
}

TensorDict tile(const TensorDict& td, SizesView counts) {
  TensorDict wide = td;
  Sizes all(counts.begin(), counts.end());
  while (wide.batch_size().size() < all.size()) wide = wide.unsqueeze(0);
  while (all.size() < wide.batch_size().size()) all.insert(all.begin(), 1);
  return run_map(wide, repetition(wide, all).without_names());
}

TensorDict repeat_interleave(const TensorDict& td, const at::Tensor& repeats, std::int64_t dim) {
  const TensorDict source = td.batch_size().empty() ? td.unsqueeze(0) : td;
  dim = wrap(source, dim);
  const std::int64_t size = known_size(source.batch_size(), static_cast<std::size_t>(dim));
  if (!c10::isIntegralType(repeats.scalar_type(), /*includeBool=*/false)) {
    fail(Code::dtype, "repeat_interleave needs integers, found ",
         dtype_name(repeats.scalar_type()));
  }
  if (repeats.dim() > 1 ||
      (repeats.dim() == 1 && repeats.numel() != 1 && repeats.numel() != size)) {
    fail(Code::shape, "repeat_interleave needs one number, or one for each of the ", size,
         " positions of dimension ", dim, "; found shape ", show_sizes(repeats.sizes()));
  }
  // Copy: another thread may write into the caller's tensor after the sum is computed.
  const at::Tensor counts = repeats.to(at::kCPU, at::kLong)
                                .reshape({-1})
                                .expand({size})
                                .clone(at::MemoryFormat::Contiguous);
  const std::int64_t* count = counts.data_ptr<std::int64_t>();
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    if (count[i] < 0 || __builtin_add_overflow(total, count[i], &total)) {
      fail(Code::invalid_argument, "repeat_interleave: ", count[i], " is not a number of repeats");
    }
  }
  at::Tensor positions = at::empty({total}, at::kLong);
  std::int64_t* to = positions.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < size; ++i) to = std::fill_n(to, count[i], i);
  const Step step{dim, [positions](std::int64_t) { return positions; }};
  return run_map(source, PickOp(source.batch_size(), std::vector<Step>{step}));
}

TensorDict roll(const TensorDict& td, SizesView shifts, std::optional<SizesView> dims) {
  const SizesView batch = td.batch_size();
  if (!dims) {
    if (shifts.size() != 1) {
      fail(Code::shape, "roll without dimensions needs one shift, found ", shifts.size());
    }
    at::Tensor position = rolled(count_elements(known_sizes(batch)), shifts[0]).view(batch);
    std::vector<at::Tensor> of_dim(batch.size());
    for (std::size_t i = batch.size(); i-- > 0;) {
      of_dim[i] = position.remainder(std::max<std::int64_t>(batch[i], 1));
      position = position.div(std::max<std::int64_t>(batch[i], 1), "floor");
    }
    return run_map(td, PickOp(batch, of_dim));
  }
  if (shifts.size() != dims->size()) {
    fail(Code::shape, "roll was given ", shifts.size(), " shifts for ", dims->size(),
         " dimensions");
  }
  std::vector<Step> steps;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const std::int64_t dim = wrap(td, (*dims)[i]);
    known_size(batch, static_cast<std::size_t>(dim));
    steps.push_back({dim, [shift = shifts[i]](std::int64_t size) { return rolled(size, shift); }});
  }
  return run_map(td, PickOp(batch, std::move(steps)));
}

TensorDict flip(const TensorDict& td, SizesView dims) {
  std::vector<Step> steps;
  for (const std::int64_t dim : wrap_all(td, dims, "flip")) {
    known_size(td.batch_size(), static_cast<std::size_t>(dim));
    steps.push_back(
        {dim, [](std::int64_t size) { return (size - 1) - at::arange(size, at::kLong); }});
  }
  return run_map(td, PickOp(td.batch_size(), std::move(steps)));
}

TensorDict rot90(const TensorDict& td, std::int64_t k, std::int64_t dim0, std::int64_t dim1) {
  const Sizes dims = wrap_all(td, Sizes{dim0, dim1}, "rot90");
  switch ((k % 4 + 4) % 4) {
    case 0: return td;
    case 1: return flip(td, SizesView(dims).slice(1)).transpose(dims[0], dims[1]);
    case 2: return flip(td, dims);
    default: return flip(td, SizesView(dims).slice(0, 1)).transpose(dims[0], dims[1]);
  }
}

}  // namespace td
