#include "core/math/reduce.h"

#include "core/tensor/dtype.h"
#include "core/tensor/torch_compat.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/walk.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

constexpr unsigned dims = 1, feature = 2, dtype = 4, floats = 8, pair = 16, scan = 32;

struct Row {
  Reduction op;
  const char* name;
  unsigned flags;
};
const Row rows[] = {
#define TD_REDUCTION(number, NAME, name, flags, doc) {Reduction::name##_op, #name, flags},
#include "core/math/ops.def"
};

const Row& row_of(Reduction op) {
  for (const Row& row : rows) {
    if (row.op == op) return row;
  }
  fail(Code::invalid_argument, "reduction ", static_cast<std::int32_t>(op), " does not exist");
}

// A reduction with validated options.
class Reducer {
 public:
  Reducer(const Row& row, const ReduceOptions& options, SizesView batch)
      : row_(row), options_(options), over_(options.over) {
    const bool everything = over_ == Over::everything;
    if (over_ == Over::features && (row.flags & feature) == 0)
      fail(Code::invalid_argument, row.name, " cannot be taken over the features");
    if (over_ == Over::features && options.keepdim)
      fail(Code::invalid_argument, row.name, " over the features keeps no dimension");
    if (options.dtype && (row.flags & dtype) == 0)
      fail(Code::invalid_argument, row.name, " takes no dtype");
    if (everything && (row.flags & scan) != 0)
      fail(Code::invalid_argument, row.name, " needs a dimension");
    if (everything && row.op == Reduction::logsumexp_op) {
      over_ = Over::dims;
      for (std::size_t d = 0; d < batch.size(); ++d) dims_.push_back(static_cast<std::int64_t>(d));
      return;
    }
    if (over_ == Over::dims) wrap_dims(batch);
  }

  Over over() const noexcept { return over_; }
  SizesView over_dims() const noexcept { return dims_; }
  const char* name() const noexcept { return row_.name; }
  bool keeps_batch() const noexcept { return over_ == Over::features || (row_.flags & scan) != 0; }

  // The reduced sizes of a node or leaf, or the remaining names.
  template <class List, class One>
  List reduced(const List& before, const One& one) const {
    if (keeps_batch()) return before;
    List after;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool gone =
          over_ == Over::everything ||
          std::find(dims_.begin(), dims_.end(), static_cast<std::int64_t>(i)) != dims_.end();
      if (!gone) {
        after.push_back(before[i]);
      } else if (options_.keepdim) {
        after.push_back(one(i));
      }
    }
    return after;
  }
  Sizes batch(SizesView before) const {
    return reduced(Sizes(before.begin(), before.end()), [](std::size_t) { return 1; });
  }

  // Reduces a leaf of a node with `node_dims` batch dimensions; `positions` only for reductions that return a
  // pair.
  at::Tensor run(const at::Tensor& leaf, std::size_t node_dims, Path path,
                 at::Tensor* positions = nullptr) const {
    if ((row_.flags & floats) != 0 && !options_.dtype &&
        at::isIntegralType(leaf.scalar_type(), /*includeBool=*/true)) {
      fail(Code::dtype, row_.name,
           " needs floating-point tensors: ", path.empty() ? "the tensor" : show_path(path), " is ",
           dtype_name(leaf.scalar_type()));
    }
    if (over_ == Over::dims) {
      if (dims_.empty()) return no_dims(leaf);
      return compute(leaf, dims_, options_.keepdim, positions);
    }
    const bool everything = over_ == Over::everything;
    const std::size_t first = everything ? 0 : node_dims;
    const auto at = static_cast<std::int64_t>(first);
    const at::Tensor result = compute(flat_from(leaf, first), at, /*keep=*/false, positions);
    if (!everything || !options_.keepdim) return result;
    return result.reshape(Sizes(static_cast<std::size_t>(leaf.dim()), 1));
  }

  // Flattens the dimensions from `first` on; without them, adds one.
  static at::Tensor flat_from(const at::Tensor& leaf, std::size_t first) {
    Sizes sizes(leaf.sizes().begin(), leaf.sizes().begin() + static_cast<std::ptrdiff_t>(first));
    sizes.push_back(count_elements(leaf.sizes().slice(first)));
    return leaf.reshape(sizes);
  }

 private:
  void wrap_dims(SizesView batch) {
    const auto n = static_cast<std::int64_t>(batch.size());
    if (options_.dims.size() != 1 && (row_.flags & dims) == 0) {
      fail(Code::invalid_argument, row_.name, " takes one dimension, found ", options_.dims.size());
    }
    if (options_.dims.empty()) fail(Code::invalid_argument, row_.name, " over no dimensions");
    for (const std::int64_t dim : options_.dims) {
      if (dim < -n || dim >= n) {
        fail(Code::index, row_.name, ": dimension ", dim, " is out of range for batch size ",
             show_sizes(batch));
      }
      const std::int64_t at = dim < 0 ? dim + n : dim;
      if (std::find(dims_.begin(), dims_.end(), at) != dims_.end())
        fail(Code::invalid_argument, row_.name, ": dimension ", dim, " is named twice");
      dims_.push_back(at);
    }
  }

  // logsumexp over no dimensions: each element by itself.
  static at::Tensor no_dims(const at::Tensor& leaf) {
    return at::logsumexp(leaf.unsqueeze(0), SizesView{0}, false);
  }

  // Applies a function of one dimension to several, the last one first.
  template <class F>
  static at::Tensor each(at::Tensor tensor, SizesView over, const F& f) {
    Sizes order(over.begin(), over.end());
    std::sort(order.begin(), order.end(), std::greater<>());
    for (const std::int64_t dim : order) tensor = f(tensor, dim);
    return tensor;
  }

  static at::Tensor both(std::tuple<at::Tensor, at::Tensor> result, at::Tensor* positions) {
    if (positions != nullptr) *positions = std::get<1>(result);
    return std::get<0>(std::move(result));
  }

  // libtorch supports corrections 0 and 1 only: others scale the variance. Computes std from the unrounded
  // variance.
  at::Tensor spread(const at::Tensor& t, SizesView over, bool keep, bool root) const {
    if (options_.correction == 0 || options_.correction == 1) {
      const bool unbiased = options_.correction == 1;
      return root ? at::std(t, over, unbiased, keep) : at::var(t, over, unbiased, keep);
    }
    double count = 1;
    for (const std::int64_t dim : over) count *= static_cast<double>(t.size(dim));
    const double rest = std::max(0.0, count - static_cast<double>(options_.correction));
    const at::Tensor biased = at::var(t, over, /*unbiased=*/false, keep) * (count / rest);
    return root ? biased.sqrt() : biased;
  }

  at::Tensor compute(const at::Tensor& t, SizesView over, bool keep, at::Tensor* positions) const {
    const compat::optional<c10::ScalarType> as =
        options_.dtype ? compat::optional<c10::ScalarType>(*options_.dtype) : compat::nullopt;
    const std::int64_t dim = over[0];
    switch (row_.op) {
      case Reduction::sum_op: return at::sum(t, over, keep, as);
      case Reduction::mean_op: return at::mean(t, over, keep, as);
      case Reduction::nansum_op: return at::nansum(t, over, keep, as);
      case Reduction::nanmean_op: return at::nanmean(t, over, keep, as);
      case Reduction::prod_op:
        return each(t, over,
                    [&](const at::Tensor& x, std::int64_t d) { return at::prod(x, d, keep, as); });
      case Reduction::all_op:
        return each(t, over,
                    [&](const at::Tensor& x, std::int64_t d) { return at::all(x, d, keep); });
      case Reduction::any_op:
        return each(t, over,
                    [&](const at::Tensor& x, std::int64_t d) { return at::any(x, d, keep); });
      case Reduction::var_op: return spread(t, over, keep, /*root=*/false);
      case Reduction::std_op: return spread(t, over, keep, /*root=*/true);
      case Reduction::amin_op: return at::amin(t, over, keep);
      case Reduction::amax_op: return at::amax(t, over, keep);
      case Reduction::min_op: return both(at::min(t, dim, keep), positions);
      case Reduction::max_op: return both(at::max(t, dim, keep), positions);
      case Reduction::cummin_op: return both(at::cummin(t, dim), positions);
      case Reduction::cummax_op: return both(at::cummax(t, dim), positions);
      case Reduction::cumsum_op: return at::cumsum(t, dim, as);
      case Reduction::cumprod_op: return at::cumprod(t, dim, as);
      case Reduction::sum_from_op: return at::cumsum(t.flip({dim}), dim, as).flip({dim});
      case Reduction::quantile_op:
        return at::quantile(t, options_.q, compat::optional<std::int64_t>(dim), keep,
                            options_.interpolation);
      case Reduction::norm_op: return at::linalg_vector_norm(t, 2, over, keep, as);
      case Reduction::logsumexp_op: return at::logsumexp(t, over, keep);
      case Reduction::softmax_op: return at::softmax(t, dim, as);
    }
    fail(Code::internal, "a reduction without a function");
  }

  const Row& row_;
  const ReduceOptions& options_;
  Over over_;
  Sizes dims_;  // counted from 0
};

class ReduceOp final : public ZipOp {
 public:
  ReduceOp(const Reducer& reducer, std::vector<at::Tensor>* positions)
      : reducer_(reducer), positions_(positions) {}

  Sizes batch(SizesView before) const override { return reducer_.batch(before); }
  void tags(const Node& before, Node& after) const override {
    if (before.tensorclass()) after.set_tensorclass(before.tensorclass());
    const Names& names = before.names();
    if (names.empty()) return;
    Names left = reducer_.reduced(names, [&](std::size_t i) { return names[i]; });
    const auto named = [](const std::optional<std::string>& name) { return name.has_value(); };
    if (std::any_of(left.begin(), left.end(), named)) after.set_names(std::move(left));
  }
  at::Tensor leaf(const Here& here, Tensors tensors) const override {
    at::Tensor positions;
    at::Tensor values =
        reducer_.run(*tensors[0], here.node().batch().size(), here.path(), &positions);
    if (positions_ != nullptr) positions_->push_back(positions);
    return values;
  }
  Value data(const Here& here, NodesHere nodes) const override {
    const Node& node = *nodes[0];
    const Sizes batch = reducer_.batch(node.batch());
    if (SizesView(batch) == node.batch()) return ZipOp::data(here, nodes);
    const std::vector<const NonTensorNode*> values = non_tensor_values(node);
    return NodePtr(c10::make_intrusive<NonTensorNode>(values.empty() ? Plain() : values[0]->value(),
                                                      batch, node.device()));
  }

 private:
  const Reducer& reducer_;
  std::vector<at::Tensor>* positions_;
};

// Replaces the leaves by other tensors, in the order of the walk.
class Replace final : public ZipOp {
 public:
  explicit Replace(std::vector<at::Tensor>& tensors) : tensors_(tensors) {}
  at::Tensor leaf(const Here&, Tensors) const override { return std::move(tensors_[next_++]); }

 private:
  std::vector<at::Tensor>& tensors_;
  mutable std::size_t next_ = 0;
};

NodePtr reduce_node(const TensorDict& td, const Reducer& reducer,
                    std::vector<at::Tensor>* positions) {
  WalkRules policy;
  policy.what = reducer.name();
  return zip(all_dense(td.node()), ReduceOp(reducer, positions), policy);
}

}  // namespace

TensorDict reduce(const TensorDict& td, Reduction op, const ReduceOptions& options) {
  return TensorDict(reduce_node(td, Reducer(row_of(op), options, td.batch_size()), nullptr));
}

std::pair<TensorDict, TensorDict> reduce_pair(const TensorDict& td, Reduction op,
                                              const ReduceOptions& options) {
  const Row& row = row_of(op);
  if ((row.flags & pair) == 0) fail(Code::invalid_argument, row.name, " has no positions");
  if (options.over != Over::dims)
    fail(Code::invalid_argument, row.name, " has positions only along one dimension");
  std::vector<at::Tensor> positions;
  const NodePtr values = reduce_node(td, Reducer(row, options, td.batch_size()), &positions);
  return {TensorDict(values), TensorDict(zip(values, Replace(positions)))};
}

at::Tensor reduce_leaves(const TensorDict& td, Reduction op, const ReduceOptions& options) {
  const Row& row = row_of(op);
  const Reducer reducer(row, options, td.batch_size());
  if ((row.flags & scan) != 0)
    fail(Code::invalid_argument, row.name, " works on each tensor, not over all of them");
  if (options.over == Over::everything && options.keepdim)
    fail(Code::invalid_argument, row.name, " of all tensors keeps no dimension");
  const std::size_t batch_dims = td.batch_size().size();
  std::vector<at::Tensor> leaves;
  std::int64_t along = 0;
  if (reducer.over() == Over::dims && !reducer.over_dims().empty()) along = reducer.over_dims()[0];
  if (reducer.over() == Over::features) along = static_cast<std::int64_t>(batch_dims);
  const auto add = [&](Path path, const Value& value) {
    const at::Tensor* elements = elements_of(value);
    if (elements == nullptr) return;
    if (value.is_node() && reducer.over() != Over::everything) {
      fail(Code::unsupported, row.name, " over all tensors: ", show_path(path),
           " is a nested tensor; all of its elements can take part, not rows of them");
    }
    at::Tensor leaf = *elements;
    if (reducer.over() == Over::everything) leaf = leaf.reshape({-1});
    if (reducer.over() == Over::features) leaf = Reducer::flat_from(leaf, batch_dims);
    for (std::int64_t d = 0; !leaves.empty() && d < std::max(leaf.dim(), leaves[0].dim()); ++d) {
      if (leaf.dim() == leaves[0].dim() && (d == along || leaf.size(d) == leaves[0].size(d)))
        continue;
      fail(Code::shape, row.name, " over all tensors: ", show_path(path), " has shape ",
           show_sizes(leaf.sizes()), ", the first one ", show_sizes(leaves[0].sizes()),
           "; they may differ in dimension ", along, " only");
    }
    leaves.push_back(std::move(leaf));
  };
  if (reducer.over() ==
      Over::everything) {  // includes keys that only some elements of a lazy stack have
    visit_paths(*picked_form(td.node()), add, Take::elements);
  } else {
    visit_paths(*all_dense(td.node()), add);
  }
  if (leaves.empty()) fail(Code::invalid_argument, row.name, " of a dictionary without tensors");
  return reducer.run(leaves.size() == 1 ? leaves[0] : at::cat(leaves, along), batch_dims, {});
}

}  // namespace td
