// Taking a dictionary apart: the layout of a leaf is worked out once for all of its parts.
#include "core/base/known_sizes.h"
#include "core/tensor/fast_path.h"
#include "core/tree/inherit.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/tensordict.h"
#include "core/tree/traverse.h"

#include <ATen/ATen.h>

namespace td {

namespace {

// The batch size, or the sizes of a leaf, without dimension `dim`.
Sizes without(SizesView sizes, std::int64_t dim) {
  Sizes result(sizes.begin(), sizes.end());
  result.erase(result.begin() + dim);
  return result;
}

class Unbind {
 public:
  Unbind(std::int64_t dim, std::size_t parts)
      : dim_(dim), parts_(parts), fast_(fast::can_skip_dispatcher()) {}

  std::vector<NodePtr> run(const NodePtr& root) {
    std::vector<NodePtr> result = parts_of(root);
    walk_.run([&](const Level& at) {
      for (std::size_t i = 0; i < at.source->size(); ++i) {
        require_entry(*at.source, i);
        entry(at.source->value(i), at.targets);
      }
    });
    return result;
  }

 private:
  struct Level {
    const DenseNode* source;
    std::vector<DenseNode*> targets;  // held by the result
  };

  std::vector<NodePtr> parts_of(const NodePtr& node) {
    if (const DenseNode* dense = as_dense(node.get())) return begin(*dense);
    if (const LazyNode* lazy = as_lazy(node.get())) return unbind_lazy(*lazy, dim_);
    if (node->kind() == NodeKind::nested_tensor) fail_nested_tensor();
    std::vector<NodePtr> copies;
    copies.reserve(parts_);
    for (std::size_t k = 0; k < parts_; ++k) {
      copies.push_back(node->shallow_copy());
      copies.back()->set_batch(without(node->batch(), dim_));
    }
    return copies;
  }

  [[noreturn]] static void fail_nested_tensor() {
    fail(Code::unsupported,
         "a nested tensor falls into parts as an entry only, along a first and only dimension");
  }

  std::vector<NodePtr> begin(const DenseNode& source) {
    const Sizes batch = without(source.batch(), dim_);
    Names names = source.names();
    if (!names.empty()) names.erase(names.begin() + dim_);
    std::vector<NodePtr> nodes;
    Level level{&source, {}};
    nodes.reserve(parts_);
    level.targets.reserve(parts_);
    for (std::size_t k = 0; k < parts_; ++k) {
      auto node = c10::make_intrusive<DenseNode>(source.schema(), batch, source.device());
      if (source.tagged()) {
        node->set_tensorclass(source.tensorclass());
        node->set_names(names);
      }
      node->reserve(source.size());
      level.targets.push_back(node.get());
      nodes.push_back(std::move(node));
    }
    walk_.add(std::move(level));
    return nodes;
  }

  void entry(const Value& value, const std::vector<DenseNode*>& targets) {
    if (!value.is_node()) {
      leaf(value.tensor(), targets);
      return;
    }
    const NodePtr& node = value.node();
    if (const NestedTensorNode* nested_tensor = as_nested_tensor(node.get())) {
      if (dim_ != 0 || nested_tensor->batch().size() != 1) fail_nested_tensor();
      for (std::size_t k = 0; k < parts_; ++k) targets[k]->push_value(nested_tensor->part(k));
      return;
    }
    std::vector<NodePtr> nodes = memo_.once(node.get(), [&] { return parts_of(node); });
    for (std::size_t k = 0; k < parts_; ++k) targets[k]->push_value(std::move(nodes[k]));
  }

  void leaf(const at::Tensor& tensor, const std::vector<DenseNode*>& targets) {
    if (!fast_ || !fast::plain(tensor)) {
      const std::vector<at::Tensor> parts = tensor.unbind(dim_);
      for (std::size_t k = 0; k < parts_; ++k) targets[k]->push_value(parts[k]);
      return;
    }
    const Sizes sizes = without(tensor.sizes(), dim_);
    const Sizes strides = without(tensor.strides(), dim_);
    const std::int64_t step = tensor.stride(dim_);
    std::int64_t offset = tensor.storage_offset();
    for (std::size_t k = 0; k < parts_; ++k, offset += step) {
      targets[k]->push_value(fast::make_view(tensor, sizes, strides, offset));
    }
  }

  std::int64_t dim_;
  std::size_t parts_;
  bool fast_;
  Traversal<Level> walk_;
  Memo<std::vector<NodePtr>> memo_;
};

}  // namespace

std::size_t TensorDict::dim_size(std::int64_t dim) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  if (dim < -n || dim >= n) {
    fail(Code::index, "dimension ", dim, " is out of range for batch size ", show_sizes(batch));
  }
  return static_cast<std::size_t>(
      known_size(batch, static_cast<std::size_t>(dim < 0 ? dim + n : dim)));
}

std::vector<TensorDict> TensorDict::unbind(std::int64_t dim) const {
  const std::size_t parts = dim_size(dim);
  if (dim < 0) dim += static_cast<std::int64_t>(batch_size().size());
  const NodePtr root = node_->kind() == NodeKind::sub_tensordict ? dense_form(node_) : node_;
  std::vector<NodePtr> nodes = Unbind(dim, parts).run(root);
  std::vector<TensorDict> result;
  result.reserve(nodes.size());
  for (NodePtr& node : nodes) {
    if (node_->memmapped() || node_->shared()) inherit_flags(*node_, node);
    result.emplace_back(std::move(node));
  }
  return result;
}

}  // namespace td
