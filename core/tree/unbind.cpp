// Unbind: computes a leaf's layout once for all parts.
#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/engine.h"
#include "core/tree/inherit.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/plan_view.h"
#include "core/tree/tensordict.h"

#include <ATen/ATen.h>

namespace td {

namespace {

// The sizes without dimension `dim`.
Sizes without(SizesView sizes, std::int64_t dim) {
  Sizes result(sizes.begin(), sizes.end());
  result.erase(result.begin() + dim);
  return result;
}

// Builds the parts of each dictionary in parallel.
class Unbind : public WalkSink<Take::into> {
 public:
  using Made = std::vector<NodePtr>;

  static constexpr bool leaps = true;

  Unbind(std::int64_t dim, SizesView batch, std::size_t parts)
      : dim_(dim), parts_(parts), fast_(fast::can_skip_dispatcher()) {
    if (!fast_) return;
    ViewPlan plan(batch);
    plan.drop(dim, 0);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(batch.size()); ++i) {
      if (i != dim) plan.keep(i);
    }
    later_ = c10::make_intrusive<PlanView>(std::move(plan), dim);
  }

  std::size_t leap(std::size_t i) const {
    return above_.back().source->next_now(above_.back().later, i);
  }

  std::vector<NodePtr> take() { return std::move(result_); }

  void enter(const Here& here, Dicts dicts) {
    require_dim(here);
    const DenseNode& source = *dicts[0];
    const Sizes batch = without(source.batch(), dim_);
    Names names = source.names();
    if (!names.empty()) names.erase(names.begin() + dim_);
    std::vector<NodePtr> nodes;
    Targets targets;
    nodes.reserve(parts_);
    targets.reserve(parts_);
    DenseNode::Later later{};
    const auto batch_of = [this](SizesView full) { return without(full, dim_); };
    for (std::size_t k = 0; k < parts_; ++k) {
      auto [node, of_part] =
          source.viewed(later_, static_cast<std::int64_t>(k), batch, source.device(), batch_of);
      later = of_part;
      if (source.tagged()) {
        node->set_tensorclass(source.tensorclass());
        node->set_names(names);
      }
      targets.push_back(node.get());
      nodes.push_back(std::move(node));
    }
    put(here, std::move(nodes));
    above_.push_back({&source, std::move(targets), later});
  }
  void leaf(const Here& here, Tensors tensors) {
    require_entry(*above_.back().source, here.index());
    leaf(*tensors[0], above_.back().targets);
  }
  void stack(const Here& here, const LazyNode& lazy, NodesHere nodes) {
    require_dim(here);
    put(here, others_.once(nodes, [&] { return unbind_lazy(lazy, dim_); }));
  }
  void value(const Here& here, NodesHere nodes) {
    require_dim(here);
    put(here, others_.once(nodes, [&] { return parts_of(*nodes[0]); }));
  }
  void nested_tensor(const Here& here, const NestedTensorNode& node, NodesHere) {
    const bool falls_apart = !above_.empty() && dim_ == 0 && node.batch().size() == 1;
    if (!falls_apart) {
      fail(Code::unsupported,
           "a nested tensor falls into parts as an entry only, along a first and only dimension");
    }
    require_entry(*above_.back().source, here.index());
    for (std::size_t k = 0; k < parts_; ++k) put(here, k, node.part(k));
  }
  Made leave(const Here&, bool again) {
    const Targets targets = std::move(above_.back().targets);
    above_.pop_back();
    Made made;
    for (DenseNode* target : targets) {
      if (again) made.push_back(retain(*target));
    }
    return made;
  }
  void again(const Here& here, const Made& made) {
    require_dim(here);
    put(here, made);
  }

 private:
  // The parts of a node that the walk does not enter.
  std::vector<NodePtr> parts_of(const Node& node) const {
    if (stack_dim_of(node)) return unbind_lazy(stack_of(node), dim_);
    std::vector<NodePtr> copies;
    copies.reserve(parts_);
    for (std::size_t k = 0; k < parts_; ++k) {
      copies.push_back(node.shallow_copy());
      copies.back()->set_batch(without(node.batch(), dim_));
    }
    return copies;
  }

  using Targets = std::vector<DenseNode*>;  // held by the targets above, or by the result
  struct Level {
    const DenseNode* source;
    Targets targets;
    DenseNode::Later later;
  };

  // A nested dictionary may have got a smaller batch size than its parent, without this dimension.
  void require_dim(const Here& here) const {
    if (!above_.empty()) require_entry(*above_.back().source, here.index());
  }

  void put(const Here& here, std::size_t part, Value value) {
    const Level& level = above_.back();
    level.targets[part]->place(level.later, here.index(), std::move(value));
  }

  void put(const Here& here, std::vector<NodePtr> nodes) {
    if (above_.empty()) {
      result_ = std::move(nodes);
      return;
    }
    for (std::size_t k = 0; k < parts_; ++k) put(here, k, std::move(nodes[k]));
  }

  void leaf(const at::Tensor& tensor, const Targets& targets) const {
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
  LeafViewPtr later_;
  std::vector<Level> above_;
  Memo<std::vector<NodePtr>> others_;
  std::vector<NodePtr> result_;
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
  Unbind unbind(dim, batch_size(), parts);
  walk(node_, unbind, all_entries());
  std::vector<NodePtr> nodes = unbind.take();
  std::vector<TensorDict> result;
  result.reserve(nodes.size());
  for (NodePtr& node : nodes) {
    if (node_->memmapped() || node_->shared()) inherit_flags(*node_, node);
    result.emplace_back(std::move(node));
  }
  return result;
}

}  // namespace td
