// Stack and cat of dictionaries with the same keys.
#include "core/shape/join.h"

#include "core/tensor/fast_path.h"
#include "core/tree/engine.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/tensorclass.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

// Joins trees along a new dimension (stack) or an existing one (cat).
class Joiner : public WalkSink<Take::elements> {
 public:
  using Made = NodePtr;
  static constexpr bool other_sizes = true;

  // `lenient`: stacks incompatible dictionaries lazily.
  Joiner(Join kind, std::int64_t dim, bool lenient)
      : kind_(kind), dim_(dim), lenient_(lenient), fast_(fast::can_skip_dispatcher()) {}

  NodePtr run(c10::ArrayRef<NodePtr> sources) {
    WalkRules rules = all_entries();
    rules.what = name();
    walk_beside(sources, *this, rules);
    return std::move(result_);
  }

  // Joins nodes that are not dictionaries.
  Take meet(const Here& here, NodesHere nodes) {
    for (std::size_t k = 0; k < nodes.size(); ++k) require_fit(here, k, nodes[k]->batch());
    const std::int64_t dim = dim_here();
    const auto lazy = static_cast<std::size_t>(std::count_if(
        nodes.begin(), nodes.end(), [](const Node* node) { return is_lazy_stack(*node); }));
    if (lazy == nodes.size()) {
      const Take take = meet_lazy(nodes, dim);
      if (take != Take::reads) return take;
      if (lenient_) return stack_lazily(nodes, dim);
    } else if (lazy != 0 && kind_ == Join::cat) {
      if (NodePtr joined = join_mixed(nodes, dim); joined.defined()) {
        put(std::move(joined));
        return Take::nothing;
      }
    }
    if (lenient_ && !compatible(nodes)) return stack_lazily(nodes, dim);
    return Take::reads;
  }

  void enter(const Here& here, Dicts dicts) {
    const DenseNode& first = *dicts[0];
    std::optional<c10::Device> device = first.device();
    bool same_names = true;
    for (const DenseNode* source : dicts) {
      if (source->device() != device) device = std::nullopt;  // the common device, or none
      same_names = same_names && (!first.tagged() || source->names() == first.names());
    }
    const std::int64_t dim = dim_here();
    const Sizes batch = joined(
        dicts.size(), dim, [&](std::size_t k) { return dicts[k]->batch(); }, "batch sizes", here);
    auto target = c10::make_intrusive<DenseNode>(first.shared_schema(), batch, device);
    if (first.tensorclass()) target->set_tensorclass(common_type(dicts));
    if (first.tagged()) take_names(first.names(), dim, *target, same_names);
    target->reserve(first.size());
    levels_.push_back({{dicts.begin(), dicts.end()}, std::move(target), {}, dim});
  }

  void enter_lazy(const Here&, const LazyNode& lazy, NodesHere) {
    const std::int64_t dim = dim_here();
    const bool before = is_before(dim, lazy.stack_dim());
    levels_.push_back({{}, {}, {}, before ? dim : dim - 1});
  }

  void leaf(const Here& here, Tensors tensors) {
    for (std::size_t k = 0; k < tensors.size(); ++k) require_fit(here, k, tensors[k]->sizes());
    const Level& level = levels_.back();
    const Sizes sizes = joined(
        tensors.size(), level.dim, [&](std::size_t k) { return tensors[k]->sizes(); }, "shapes",
        here);
    level.target->push_value(join_tensors(kind_, tensors, level.dim, sizes, fast_));
  }

  void value(const Here& here, NodesHere nodes) {
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (nodes[k] == nullptr) {
        fail(Code::wrong_entry, name(), ": ", show_path(here.path()),
             " is a dictionary in one place and a non-tensor value in another");
      }
      require_fit(here, k, nodes[k]->batch());
    }
    put(join_non_tensor(here, nodes, dim_here()));
  }

  NodePtr leave(const Here& here, bool) {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    NodePtr made = std::move(level.target);
    if (!made.defined()) {
      const std::int64_t along = stack_of(here.node()).stack_dim();
      const bool moves = kind_ == Join::stack && is_before(dim_here(), along);
      made = lazy_stack(std::move(level.elements), moves ? along + 1 : along);
    }
    put(made);
    return made;
  }
  void again(const Here&, const NodePtr& made) { put(made); }

  // Nodes are shared per dimension: elements of lazy stacks have one less.
  std::uintptr_t scope(const Here&) const { return static_cast<std::uintptr_t>(dim_here()); }

 private:
  struct Level {
    c10::SmallVector<const DenseNode*, 8> sources;
    c10::intrusive_ptr<DenseNode> target;  // for a dictionary
    std::vector<NodePtr> elements;         // for a lazy stack
    std::int64_t dim;                      // of its content
  };

  std::int64_t dim_here() const { return levels_.empty() ? dim_ : levels_.back().dim; }

  // Whether a dimension comes before that of a lazy stack.
  bool is_before(std::int64_t dim, std::int64_t along) const {
    return kind_ == Join::stack ? dim <= along : dim < along;
  }

  void put(NodePtr node) {
    if (levels_.empty()) {
      result_ = std::move(node);
    } else if (levels_.back().target.defined()) {
      levels_.back().target->push_value(std::move(node));
    } else {
      levels_.back().elements.push_back(std::move(node));
    }
  }

  Take stack_lazily(NodesHere nodes, std::int64_t dim) {
    std::vector<NodePtr> elements;
    for (const Node* node : nodes) elements.push_back(retain(*node));
    put(lazy_stack(std::move(elements), dim));
    return Take::nothing;
  }

  // The sizes of source k's entry must start with its dictionary's batch size.
  void require_fit(const Here& here, std::size_t k, SizesView sizes) const {
    if (levels_.empty() || levels_.back().sources.empty()) return;
    const DenseNode& source = *levels_.back().sources[k];
    if (!begins_with(sizes, source.batch())) fail_entry(source, source.schema()->find(here.name()));
  }

  const char* name() const { return kind_ == Join::stack ? "stack" : "cat"; }

  // Whether sizes agree, except for the dimension that cat extends.
  bool agree(SizesView a, SizesView b, std::int64_t dim) const noexcept {
    if (a.size() != b.size()) return false;
    const std::size_t open = kind_ == Join::cat ? static_cast<std::size_t>(dim) : a.size();
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i] && i != open) return false;
    }
    return true;
  }

  [[noreturn]] void fail_sizes(SizesView a, SizesView b, const char* what, const Here& here) const {
    const std::string entry = here.path().empty() ? "" : ", entry " + show_path(here.path());
    fail(Code::shape, name(), " needs ", what, " that agree", entry, ": found ", show_sizes(a),
         " and ", show_sizes(b));
  }

  // Sizes of the result; `size_of(k)` returns those of source k.
  template <class SizeOf>
  Sizes joined(std::size_t n, std::int64_t dim, SizeOf&& size_of, const char* what,
               const Here& here) const {
    const SizesView first = size_of(0);
    const auto at = static_cast<std::size_t>(dim);
    Sizes result(first.begin(), first.end());
    for (std::size_t k = 1; k < n; ++k) {
      const SizesView sizes = size_of(k);
      if (!agree(first, sizes, dim)) fail_sizes(first, sizes, what, here);
      if (kind_ == Join::cat && __builtin_add_overflow(result[at], sizes[at], &result[at])) {
        fail_sizes(first, sizes, "lengths that can be added up", here);
      }
    }
    if (kind_ == Join::stack) result.insert(result.begin() + dim, static_cast<std::int64_t>(n));
    return result;
  }

  static TensorclassTypePtr common_type(Dicts sources) {
    TensorclassTypePtr type = sources[0]->tensorclass();
    for (const DenseNode* source : sources) {
      if (source->tensorclass() != type) type = common_tensorclass(type, source->tensorclass());
    }
    return type;
  }

  void take_names(Names names, std::int64_t dim, Node& target, bool same_names) const {
    if (names.empty() || (kind_ == Join::stack && !same_names)) return;
    if (kind_ == Join::stack) names.insert(names.begin() + dim, std::nullopt);
    target.set_names(std::move(names));
  }

  // Whether the dictionaries can be stacked densely, ignoring nested ones.
  static bool compatible(NodesHere nodes) {
    c10::SmallVector<NodePtr, 8> forms;
    for (const Node* node : nodes) forms.push_back(dense_form(retain(*node)));
    const DenseNode& first = entries_of(forms[0]);
    for (const NodePtr& form : forms) {
      const DenseNode& source = entries_of(form);
      if (source.batch() != first.batch() || source.size() != first.size()) return false;
      const KeyMatch where(first, source);
      for (std::size_t i = 0; i < first.size(); ++i) {
        const std::size_t at = where(i);
        if (at == Schema::npos) return false;
        const Value& one = first.value(i);
        const Value& other = source.value(at);
        if (one.is_node() != other.is_node()) return false;
        if (one.is_node()
                ? is_dict(one) != is_dict(other) || sizes_of(one).size() != sizes_of(other).size()
                : sizes_of(one) != sizes_of(other)) {
          return false;
        }
      }
    }
    return true;
  }

  // Keeps compatible lazy stacks lazy; reads others.
  Take meet_lazy(NodesHere nodes, std::int64_t dim) {
    const LazyNode& first = stack_of(*nodes[0]);
    bool same_count = true;
    for (const Node* node : nodes) {
      const LazyNode& lazy = stack_of(*node);
      require_elements(lazy);
      if (lazy.stack_dim() != first.stack_dim() || lazy.batch().size() != first.batch().size())
        return Take::reads;
      same_count = same_count && lazy.elements().size() == first.elements().size();
    }
    if (kind_ == Join::stack || dim != first.stack_dim())
      return same_count ? Take::elements : Take::reads;
    std::vector<NodePtr> elements;
    for (const Node* node : nodes) {
      const auto& own = stack_of(*node).elements();
      elements.insert(elements.end(), own.begin(), own.end());
    }
    put(lazy_stack(std::move(elements), dim));
    return Take::nothing;
  }

  // Splits dictionaries that are joined with lazy stacks along their dimension into elements.
  static NodePtr join_mixed(NodesHere nodes, std::int64_t dim) {
    std::vector<NodePtr> elements;
    for (const Node* node : nodes) {
      if (node->batch().size() != nodes[0]->batch().size()) return {};
      const std::optional<std::int64_t> along = stack_dim_of(*node);
      if (along ? *along != dim : static_cast<std::size_t>(dim) >= node->batch().size()) return {};
      for (const TensorDict& part : TensorDict(part_form(retain(*node))).unbind(dim))
        elements.push_back(part.node());
    }
    return lazy_stack(std::move(elements), dim);
  }

  // Joins non-tensor values into a stack, or into one value if all are equal.
  NodePtr join_non_tensor(const Here& here, NodesHere nodes, std::int64_t dim) const {
    const Sizes batch = joined(
        nodes.size(), dim, [&](std::size_t k) { return nodes[k]->batch(); }, "batch sizes", here);
    if (is_nested_tensor(*nodes[0]) && kind_ == Join::cat) return cat_nested_tensor(here, nodes);
    if (kind_ == Join::stack) {
      // Copy the nodes: a source may get another batch size later.
      std::vector<NodePtr> elements;
      for (const Node* node : nodes) elements.push_back(node->shallow_copy());
      return lazy_stack(std::move(elements), dim);
    }
    const Plain* value = one_value(*nodes[0]);
    const bool same =
        value != nullptr && std::all_of(nodes.begin(), nodes.end(), [&](const Node* node) {
          const Plain* one = one_value(*node);
          return one != nullptr && *one == *value;
        });
    if (same) return c10::make_intrusive<NonTensorNode>(*value, batch, nodes[0]->device());
    std::vector<const NonTensorNode*> values;
    std::vector<at::Tensor> positions;
    for (const Node* node : nodes) {
      const std::vector<const NonTensorNode*> own = non_tensor_values(*node);
      const auto first = static_cast<std::int64_t>(values.size());
      const auto past = first + static_cast<std::int64_t>(own.size());
      positions.push_back(at::arange(first, past, at::kLong).view(node->batch()));
      values.insert(values.end(), own.begin(), own.end());
    }
    return make_non_tensor(values, at::cat(positions, dim), nodes[0]->device());
  }

  // Concatenates the parts.
  static NodePtr cat_nested_tensor(const Here& here, NodesHere nodes) {
    std::vector<at::Tensor> values, sizes;
    const NestedTensorNode& first = require_nested_tensor(retain(*nodes[0]));
    const auto fits = [&](const NestedTensorNode& one) {
      return one.batch().size() == 1 && one.part_dims() == first.part_dims() &&
             one.values().dtype() == first.values().dtype() &&
             one.values().device() == first.values().device();
    };
    for (const Node* node : nodes) {
      if (!is_nested_tensor(*node) || !fits(require_nested_tensor(retain(*node)))) {
        fail(Code::unsupported, "cat: ", show_path(here.path()),
             " is a nested tensor: cat needs nested tensors with one batch dimension, the same "
             "number of dimensions, dtype and device");
      }
      values.push_back(require_nested_tensor(retain(*node)).values());
      sizes.push_back(require_nested_tensor(retain(*node)).sizes());
    }
    NestedTensorPtr result = make_nested_tensor(at::cat(values), at::cat(sizes));
    result->set_device(first.device());
    return result;
  }

  Join kind_;
  std::int64_t dim_;
  bool lenient_;
  bool fast_;
  c10::SmallVector<Level, 2> levels_;
  NodePtr result_;
};

NodePtr run(Join kind, c10::ArrayRef<TensorDict> sources, std::int64_t dim, bool lenient) {
  dim = join_dim(kind, sources, dim);
  c10::SmallVector<NodePtr, 8> nodes;
  for (const TensorDict& source : sources) nodes.push_back(source.node());
  return Joiner(kind, dim, lenient).run(nodes);
}

}  // namespace

std::int64_t join_dim(Join kind, c10::ArrayRef<TensorDict> sources, std::int64_t dim) {
  const char* name = kind == Join::stack ? "stack" : "cat";
  if (sources.empty()) fail(Code::invalid_argument, name, " needs at least one dictionary");
  const SizesView batch = sources[0].batch_size();
  const auto dims = static_cast<std::int64_t>(batch.size()) + (kind == Join::stack ? 1 : 0);
  if (dim < -dims || dim >= dims) {
    fail(Code::index, name, ": dimension ", dim, " is out of range for batch size ",
         show_sizes(batch));
  }
  return dim < 0 ? dim + dims : dim;
}

TensorDict stack(c10::ArrayRef<TensorDict> sources, std::int64_t dim) {
  return TensorDict(run(Join::stack, sources, dim, /*lenient=*/false));
}

TensorDict cat(c10::ArrayRef<TensorDict> sources, std::int64_t dim) {
  return TensorDict(run(Join::cat, sources, dim, /*lenient=*/false));
}

TensorDict maybe_dense_stack(c10::ArrayRef<TensorDict> sources, std::int64_t dim) {
  return TensorDict(run(Join::stack, sources, dim, /*lenient=*/true));
}

}  // namespace td
