#include "core/shape/pad.h"

#include "core/tensor/known_sizes.h"
#include "core/tensor/scalar.h"
#include "core/tree/view_ops.h"

#include "core/tree/batch_op.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

namespace td {

namespace {

class PadOp final : public BatchOp {
 public:
  PadOp(SizesView widths, double value) : widths_(widths), value_(value) {}

  Sizes batch(SizesView before) const override {
    Sizes sizes(before.begin(), before.end());
    for (std::size_t i = 0; i < widths_.size(); ++i) sizes[i / 2] += widths_[i];
    return sizes;
  }
  at::Tensor leaf(const at::Tensor& before) const override { return padded(before, value_); }

  // libtorch takes pairs from the last dimension on.
  at::Tensor padded(const at::Tensor& before, double value) const {
    std::vector<std::int64_t> reversed(2 * static_cast<std::size_t>(before.dim()), 0);
    for (std::size_t i = 0; i < widths_.size(); i += 2) {
      reversed[reversed.size() - i - 2] = widths_[i];
      reversed[reversed.size() - i - 1] = widths_[i + 1];
    }
    return padded_by(before, reversed, value, "pad");
  }

  NodePtr lazy(const LazyNode& node) const override {
    if (node.holds_non_tensor()) return data(node);
    NodePtr result = BatchOp::lazy(node);
    // As in Python, the name of the stack's dimension alone is not kept.
    const bool named = std::any_of(stacked(node).begin(), stacked(node).end(),
                                   [](const NodePtr& one) { return !one->names().empty(); });
    if (!named) result->set_names({});
    return result;
  }

  // Padding turns a value for the whole batch into a value for each element.
  NodePtr one_value(const NonTensorNode& node) const override {
    return adds() ? data(node) : BatchOp::one_value(node);
  }

  // A value for each position; null for new ones.
  NodePtr data(const Node& node) const {
    std::vector<const NonTensorNode*> values = non_tensor_values(node);
    const auto null = c10::make_intrusive<NonTensorNode>(Plain(), SizesView{}, node.device());
    const auto n = static_cast<std::int64_t>(values.size());
    values.push_back(null.get());
    const at::Tensor positions = at::arange(n, at::kLong).view(node.batch());
    return make_non_tensor(values, padded(positions, static_cast<double>(n)), node.device());
  }

  bool adds() const {
    return std::any_of(widths_.begin(), widths_.end(), [](std::int64_t n) { return n > 0; });
  }

 private:
  SizesView widths_;
  double value_;
};

}  // namespace

TensorDict pad(const TensorDict& td, SizesView widths, double value) {
  const SizesView batch = td.batch_size();
  if (widths.size() % 2 != 0 || widths.size() > 2 * batch.size()) {
    fail(Code::shape, "pad needs a pair of numbers for each dimension of batch size ",
         show_sizes(batch), ", found ", show_sizes(widths));
  }
  for (std::size_t i = 0; i < widths.size(); i += 2) {
    // Crop first: a sum could hide that one side removes more than there is.
    if (widths[i] == 0 && widths[i + 1] == 0) continue;
    std::int64_t size = known_size(batch, i / 2);
    bool fits = true;
    for (const std::int64_t width : widths.slice(i, 2)) {
      fits = fits && !__builtin_add_overflow(size, std::min<std::int64_t>(width, 0), &size);
    }
    fits = fits && size >= 0;
    for (const std::int64_t width : widths.slice(i, 2)) {
      fits = fits && !__builtin_add_overflow(size, std::max<std::int64_t>(width, 0), &size);
    }
    if (!fits) {
      fail(Code::shape, "pad by ", widths[i], " and ", widths[i + 1],
           " is not possible for dimension ", i / 2, " of batch size ", show_sizes(batch));
    }
  }
  const PadOp op(widths, value);
  return TensorDict(map(td.node(), op));
}

namespace {

// One entry of several dictionaries, padded at the end of a dimension and stacked.
class Sequence {
 public:
  Sequence(Path path, Tensors tensors, std::int64_t dim) : tensors_(tensors) {
    const at::Tensor& first = *tensors[0];
    dim_ = dim < 0 ? dim + first.dim() : dim;
    if (dim_ < 0 || dim_ >= first.dim()) {
      fail(Code::shape, "pad_sequence: ", show_path(path), " of shape ", show_sizes(first.sizes()),
           " has no dimension ", dim);
    }
    for (const at::Tensor* tensor : tensors) {
      bool fits = tensor->dim() == first.dim() && tensor->dtype() == first.dtype() &&
                  tensor->device() == first.device();
      for (std::int64_t i = 0; fits && i < first.dim(); ++i) {
        fits = i == dim_ || tensor->size(i) == first.size(i);
      }
      if (!fits) {
        fail(Code::shape, "pad_sequence: ", show_path(path), " has shapes ",
             show_sizes(first.sizes()), " and ", show_sizes(tensor->sizes()),
             ", or other dtypes or devices, which cannot be stacked");
      }
      longest_ = std::max(longest_, tensor->size(dim_));
    }
  }

  std::size_t dim() const noexcept { return static_cast<std::size_t>(dim_); }
  std::int64_t longest() const noexcept { return longest_; }

  at::Tensor joined(double value) const {
    std::vector<at::Tensor> padded;
    for (const at::Tensor* tensor : tensors_) padded.push_back(fill_up(*tensor, dim_, value));
    return at::stack(padded);
  }

  // True at original positions: for each batch element, and for each position of the padded dimension if that
  // is a feature.
  at::Tensor mask(std::size_t batch_dims) const {
    std::vector<at::Tensor> padded;
    for (const at::Tensor* tensor : tensors_) {
      Sizes sizes(tensor->sizes().begin(), tensor->sizes().begin() + batch_dims);
      if (dim() >= batch_dims) sizes.push_back(tensor->size(dim_));
      const at::Tensor ones = at::ones(sizes, tensor->options().dtype(at::kBool));
      padded.push_back(fill_up(ones, std::min(dim_, static_cast<std::int64_t>(batch_dims)), 0));
    }
    return at::stack(padded);
  }

 private:
  at::Tensor fill_up(const at::Tensor& tensor, std::int64_t dim, double value) const {
    std::vector<std::int64_t> widths(2 * static_cast<std::size_t>(tensor.dim() - dim), 0);
    widths.back() = longest_ - tensor.size(dim);
    return padded_by(tensor, widths, value, "pad_sequence");
  }

  Tensors tensors_;
  std::int64_t dim_;
  std::int64_t longest_ = 0;
};

WalkRules padding_rules() {
  WalkRules rules;
  rules.missing = WalkRules::Missing::intersect;
  rules.what = "pad_sequence";
  return rules;
}

// The batch size of the result. Padded dimensions grow; the others must be equal.
Sizes padded_batch(c10::ArrayRef<NodePtr> roots, std::int64_t dim) {
  const SizesView first = roots[0]->batch();
  Sizes batch{static_cast<std::int64_t>(roots.size())};
  batch.append(first.begin(), first.end());
  std::vector<bool> padded(first.size(), false);
  bool any = false;
  const auto grow = [&](std::size_t at, std::int64_t size) {
    if (at >= first.size()) return;
    padded[at] = true;
    batch[at + 1] = std::max(batch[at + 1], size);
  };
  visit_zip<Take::reads>(
      roots,
      [&](const Here& here, Tensors tensors) {
        const Sequence sequence(here.path(), tensors, dim);
        grow(sequence.dim(), sequence.longest());
        any = true;
      },
      padding_rules());
  const auto own_dim =
      static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(first.size()) : dim);
  for (const NodePtr& root : roots) {
    if (!any && own_dim < first.size()) grow(own_dim, root->batch()[own_dim]);
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (padded[i] || root->batch()[i] == first[i]) continue;
      fail(Code::shape, "pad_sequence: batch sizes ", show_sizes(first), " and ",
           show_sizes(root->batch()), " differ beside dimension ", dim);
    }
  }
  return batch;
}

// Builds the result and the masks.
class PadSequence : public WalkSink<Take::reads> {
 public:
  struct Made {
    NodePtr values, masks;
  };

  PadSequence(c10::ArrayRef<NodePtr> roots, const PadSequenceOptions& options)
      : options_(options), batch_(padded_batch(roots, options.dim)), device_(roots[0]->device()) {
    for (const NodePtr& root : roots) {
      if (root->device() != device_) device_ = std::nullopt;
    }
    const WalkRules rules = padding_rules();
    walk_beside(roots, *this, rules);
  }

  const Made& made() const noexcept { return made_; }

  void enter(const Here&, Dicts) { levels_.emplace_back(); }
  void leaf(const Here& here, Tensors tensors) {
    const Sequence sequence(here.path(), tensors, options_.dim);
    put(here, sequence.joined(options_.value));
    if (options_.masks.empty()) return;
    levels_.back().masks.emplace_back(here.name(), Value(sequence.mask(batch_.size() - 1)));
  }
  Made leave(const Here& here, bool) {
    const Level done = std::move(levels_.back());
    levels_.pop_back();
    made_ = {node_of(here, batch_below(here.node(), done), done.values),
             node_of(here, batch_, done.masks)};
    again(here, made_);
    return made_;
  }
  void again(const Here& here, const Made& made) {
    if (levels_.empty()) return;
    put(here, made.values);
    if (!entry_names(*made.masks).empty())
      levels_.back().masks.emplace_back(here.name(), Value(made.masks));
  }

 private:
  using Entries = std::vector<std::pair<std::string, Value>>;
  struct Level {
    Entries values, masks;
  };

  static SizesView sizes_in(const Value& value) {
    return value.is_node() ? value.node()->batch() : value.tensor().sizes();
  }

  // The further batch dimensions of a dictionary follow from its padded content.
  Sizes batch_below(const Node& first, const Level& level) const {
    Sizes batch = batch_;
    const SizesView own = first.batch();
    const std::size_t above = batch_.size() - 1;
    if (own.size() > above) batch.append(own.begin() + above, own.end());
    for (const auto& [name, value] : level.values) {
      for (std::size_t i = batch_.size(); i < batch.size(); ++i)
        batch[i] = std::max(batch[i], sizes_in(value)[i]);
    }
    return batch;
  }

  NodePtr node_of(const Here& here, SizesView batch, const Entries& entries) const {
    auto node = c10::make_intrusive<DenseNode>(batch, device_);
    for (const auto& [name, value] : entries) {
      if (!begins_with(sizes_in(value), batch)) {
        PathBuffer full(here.path().begin(), here.path().end());
        full.push_back(name);
        require_batch(full, sizes_in(value), batch);
      }
      node->put(name, value);
    }
    return node;
  }

  void put(const Here& here, Value value) {
    levels_.back().values.emplace_back(here.name(), std::move(value));
  }

  const PadSequenceOptions& options_;
  const Sizes batch_;  // of the result
  std::optional<c10::Device> device_;
  std::vector<Level> levels_;
  Made made_;
};

}  // namespace

TensorDict pad_sequence(c10::ArrayRef<TensorDict> sources, const PadSequenceOptions& options) {
  if (sources.empty()) fail(Code::invalid_argument, "pad_sequence needs at least one dictionary");
  std::vector<NodePtr> roots;
  for (const TensorDict& source : sources) {
    if (!is_dict(*source.node())) fail(Code::unsupported, "pad_sequence of non-tensor values");
    roots.push_back(source.node());
    const SizesView first = roots[0]->batch(), sizes = known_sizes(source.batch_size());
    if (sizes.size() != first.size()) {
      fail(Code::shape, "pad_sequence: batch sizes ", show_sizes(first), " and ", show_sizes(sizes),
           " differ in their number of dimensions");
    }
  }
  const PadSequence::Made made = PadSequence(roots, options).made();
  TensorDict result(made.values);
  if (!entry_names(*made.masks).empty()) result.set(options.masks, TensorDict(made.masks));
  return result;
}

}  // namespace td
