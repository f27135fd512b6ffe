// Sequences of different lengths in one dictionary, with padding.
#include "core/shape/pad.h"

#include "core/tensor/known_sizes.h"
#include "core/tensor/scalar.h"
#include "core/tree/engine.h"
#include "core/tree/kinds.h"
#include "core/tree/non_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

namespace td {

namespace {

// One entry of several dictionaries, padded along a dimension and stacked.
class Sequence {
 public:
  Sequence(Path path, Tensors tensors, const PadSequenceOptions& options)
      : tensors_(tensors), left_(options.left) {
    const std::int64_t dim = options.dim;
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
    widths[widths.size() - (left_ ? 2 : 1)] = longest_ - tensor.size(dim);
    return padded_by(tensor, widths, value, "pad_sequence");
  }

  Tensors tensors_;
  bool left_;
  std::int64_t dim_;
  std::int64_t longest_ = 0;
};

// The paddings of single entries.
class Paddings {
 public:
  explicit Paddings(const PadSequenceOptions& options)
      : options_(options), met_(options.keys.size()) {
    if (options.keys.size() != options.values.size()) {
      fail(Code::invalid_argument, "pad_sequence: ", options.values.size(), " values for ",
           options.keys.size(), " keys");
    }
  }
  double of(Path path) {
    for (std::size_t i = 0; i < met_.size(); ++i) {
      if (options_.keys[i] != path) continue;
      met_[i] = true;
      return options_.values[i];
    }
    return options_.value;
  }
  void require_met() const {
    for (std::size_t i = 0; i < met_.size(); ++i) {
      if (met_[i]) continue;
      fail(Code::key_not_found, "pad_sequence: there is a padding for ",
           show_path(options_.keys[i]), ", which is no tensor of all dictionaries");
    }
  }

 private:
  const PadSequenceOptions& options_;
  std::vector<bool> met_;
};

WalkRules padding_rules(const PadSequenceOptions& options) {
  WalkRules rules;
  rules.each_path = !options.keys.empty();
  rules.missing = WalkRules::Missing::intersect;
  rules.what = "pad_sequence";
  return rules;
}

// The batch size of the result. Padded dimensions grow; the others must be equal.
Sizes padded_batch(c10::ArrayRef<NodePtr> roots, const PadSequenceOptions& options) {
  const std::int64_t dim = options.dim;
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
  visit_zip(
      roots, Take::reads,
      [&](const Here& here, Tensors tensors) {
        const Sequence sequence(here.path(), tensors, options);
        grow(sequence.dim(), sequence.longest());
        any = true;
      },
      padding_rules(options));
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
      : options_(options),
        paddings_(options),
        batch_(padded_batch(roots, options)),
        device_(roots[0]->device()) {
    for (const NodePtr& root : roots) {
      if (root->device() != device_) device_ = std::nullopt;
    }
    const WalkRules rules = padding_rules(options);
    walk_beside(roots, *this, rules);
    paddings_.require_met();
  }

  const Made& made() const noexcept { return made_; }

  void enter(const Here&, Dicts) { levels_.emplace_back(); }
  void leaf(const Here& here, Tensors tensors) {
    const Sequence sequence(here.path(), tensors, options_);
    put(here, sequence.joined(paddings_.of(here.path())));
    if (options_.masks.empty()) return;
    levels_.back().masks.emplace_back(here.name(), Value(sequence.mask(batch_.size() - 1)));
  }
  // Values that are no tensors are null where there is padding.
  void value(const Here& here, NodesHere nodes) {
    const auto null = c10::make_intrusive<NonTensorNode>(Plain(), SizesView{}, device_);
    std::vector<const NonTensorNode*> values{null.get()};
    std::vector<at::Tensor> positions;
    const Sizes longest = longest_batch(here, nodes);
    for (const Node* node : nodes) {
      const std::vector<const NonTensorNode*> own = non_tensor_values(*node);
      const auto first = static_cast<std::int64_t>(values.size());
      const at::Tensor at =
          at::arange(first, first + static_cast<std::int64_t>(own.size()), at::kLong);
      std::vector<std::int64_t> widths(2 * longest.size(), 0);
      for (std::size_t i = 0; i < longest.size(); ++i) {
        const std::size_t end = 2 * (longest.size() - i);
        widths[end - (options_.left ? 2 : 1)] = longest[i] - node->batch()[i];
      }
      positions.push_back(padded_by(at.view(node->batch()), widths, 0, "pad_sequence"));
      values.insert(values.end(), own.begin(), own.end());
    }
    put(here, make_non_tensor(values, at::stack(positions), device_));
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

  // The largest batch size of some values; that of the root is known.
  Sizes longest_batch(const Here& here, NodesHere nodes) const {
    Sizes longest(batch_.begin() + 1, batch_.end());
    for (const Node* node : nodes) {
      if (node == nullptr || is_nested_tensor(*node)) {
        fail(Code::wrong_entry, "pad_sequence: ", show_path(here.path()),
             " is not of one kind in all dictionaries");
      }
      const SizesView own = node->batch();
      longest.resize(std::max(longest.size(), own.size()), 0);
      bool fits = own.size() == longest.size();
      for (std::size_t i = 0; fits && i < own.size(); ++i) {
        fits = i + 1 >= batch_.size() || own[i] <= longest[i];
        longest[i] = std::max(longest[i], own[i]);
      }
      if (!fits) {
        fail(Code::shape, "pad_sequence: ", show_path(here.path()), " has batch size ",
             show_sizes(own), ", which does not fit the others");
      }
    }
    return longest;
  }

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
  Paddings paddings_;
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
