// Stack and cat: several dictionaries of the same keys become one.
#include "core/shape/join.h"

#include "core/base/recursion_guard.h"
#include "core/tensor/fast_path.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/tensorclass.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

namespace td {

namespace {

// One operation in two forms: a new dimension (stack), or a longer one (cat).
class Joiner {
 public:
  // `lenient`: dictionaries that cannot be joined are stacked lazily instead.
  Joiner(Join kind, std::int64_t dim, bool lenient)
      : kind_(kind), dim_(dim), lenient_(lenient), fast_(fast::can_skip_dispatcher()) {}

  NodePtr run(c10::ArrayRef<NodePtr> sources) {
    NodePtr result = make({}, sources, dim_);
    walk_.run([&](const Level& level) { fill(level); });
    return result;
  }

 private:
  using Dense = c10::SmallVector<const DenseNode*, 8>;
  struct Level {
    Dense sources;
    DenseNode* target = nullptr;
    std::int64_t dim = 0;  // of these nodes: elements of lazy stacks have one dimension less
  };

  const char* name() const { return kind_ == Join::stack ? "stack" : "cat"; }

  // Whether sizes agree, but for the dimension that cat makes longer.
  bool agree(SizesView a, SizesView b, std::int64_t dim) const noexcept {
    if (a.size() != b.size()) return false;
    const std::size_t open = kind_ == Join::cat ? static_cast<std::size_t>(dim) : a.size();
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i] && i != open) return false;
    }
    return true;
  }

  [[noreturn]] void fail_sizes(SizesView a, SizesView b, const char* what,
                               std::string_view key) const {
    const std::string entry = key.empty() ? "" : ", entry \"" + std::string(key) + "\"";
    fail(Code::shape, name(), " needs ", what, " that agree", entry, ": found ", show_sizes(a),
         " and ", show_sizes(b));
  }

  // Sizes of the result. `size_of(k)` gives those of source k.
  template <class SizeOf>
  Sizes joined(std::size_t n, std::int64_t dim, SizeOf&& size_of, const char* what,
               std::string_view key) const {
    const SizesView first = size_of(0);
    const auto at = static_cast<std::size_t>(dim);
    Sizes result(first.begin(), first.end());
    for (std::size_t k = 1; k < n; ++k) {
      const SizesView sizes = size_of(k);
      if (!agree(first, sizes, dim)) fail_sizes(first, sizes, what, key);
      if (kind_ == Join::cat && __builtin_add_overflow(result[at], sizes[at], &result[at])) {
        fail_sizes(first, sizes, "lengths that can be added up", key);
      }
    }
    if (kind_ == Join::stack) result.insert(result.begin() + dim, static_cast<std::int64_t>(n));
    return result;
  }

  static TensorclassTypePtr common_type(c10::ArrayRef<const DenseNode*> sources) {
    TensorclassTypePtr type = sources[0]->tensorclass();
    for (const DenseNode* source : sources) {
      if (source->tensorclass() != type) type = common_tensorclass(type, source->tensorclass());
    }
    return type;
  }

  // The node that several make; of the same ones the same.
  NodePtr begin(std::string_view key, NodesHere here, std::int64_t dim) {
    const auto made = [&] {
      c10::SmallVector<NodePtr, 8> nodes;
      for (const Node* node : here) nodes.push_back(retain(*node));
      return make(key, nodes, dim);
    };
    return memo_.once(here, made, static_cast<std::uintptr_t>(dim));
  }

  // Those that are no plain dictionaries have rules of their own.
  NodePtr make(std::string_view key, c10::ArrayRef<NodePtr> nodes, std::int64_t dim) {
    std::size_t data = 0, lazy = 0, dense = 0;
    for (const NodePtr& node : nodes) {
      data += is_opaque(*node) ? 1 : 0;
      dense += node->kind() == NodeKind::dense ? 1 : 0;
      lazy += as_lazy(node.get()) != nullptr && !is_opaque(*node) ? 1 : 0;
    }
    if (data == nodes.size()) return join_non_tensor(key, nodes, dim);
    if (data != 0) {
      fail(Code::wrong_entry, name(), ": \"", key,
           "\" is a dictionary in one place and a non-tensor value in another");
    }
    if (lazy == nodes.size()) {
      if (NodePtr joined = join_lazy(nodes, dim); joined.defined()) return joined;
      if (lenient_) return lazy_stack({nodes.begin(), nodes.end()}, dim);
    } else if (lazy != 0 && kind_ == Join::cat) {
      if (NodePtr joined = join_mixed(nodes, dim); joined.defined()) return joined;
    }
    Level level;
    level.dim = dim;
    for (const NodePtr& node : nodes) {
      if (dense != nodes.size()) read_out_.push_back(dense_form(node));
      level.sources.push_back(
          as_dense(dense != nodes.size() ? read_out_.back().get() : node.get()));
    }
    if (lenient_ && !compatible(level.sources))
      return lazy_stack({nodes.begin(), nodes.end()}, dim);
    return begin_dense(key, std::move(level));
  }

  NodePtr begin_dense(std::string_view key, Level level) {
    const DenseNode& first = *level.sources[0];
    std::optional<c10::Device> device = first.device();
    bool same_names = true;
    for (const DenseNode* source : level.sources) {
      if (source->device() != device) device = std::nullopt;  // common, or none
      if (source->size() != first.size()) fail_keys(first, *source);
      same_names = same_names && (!first.tagged() || source->names() == first.names());
    }
    const Sizes batch = joined(
        level.sources.size(), level.dim, [&](std::size_t k) { return level.sources[k]->batch(); },
        "batch sizes", key);
    auto target = c10::make_intrusive<DenseNode>(first.schema(), batch, device);
    if (first.tensorclass()) target->set_tensorclass(common_type(level.sources));
    if (first.tagged()) take_names(first.names(), level.dim, *target, same_names);
    target->reserve(first.size());
    level.target = target.get();
    walk_.add(std::move(level));
    return target;
  }

  void take_names(Names names, std::int64_t dim, Node& target, bool same_names) const {
    if (names.empty() || (kind_ == Join::stack && !same_names)) return;
    if (kind_ == Join::stack) names.insert(names.begin() + dim, std::nullopt);
    target.set_names(std::move(names));
  }

  // Whether dictionaries can be stacked densely, all below them left aside.
  static bool compatible(c10::ArrayRef<const DenseNode*> sources) {
    const DenseNode& first = *sources[0];
    for (const DenseNode* source : sources) {
      if (source->batch() != first.batch() || source->size() != first.size()) return false;
      const KeyMatch where(first, *source);
      for (std::size_t i = 0; i < first.size(); ++i) {
        const std::size_t at = where(i);
        if (at == Schema::npos) return false;
        const Value& one = first.value(i);
        const Value& other = source->value(at);
        if (one.is_node() != other.is_node()) return false;
        if (one.is_node() ? is_opaque(*one.node()) != is_opaque(*other.node()) ||
                                one.node()->batch().size() != other.node()->batch().size()
                          : one.tensor().sizes() != other.tensor().sizes()) {
          return false;
        }
      }
    }
    return true;
  }

  // Lazy stacks that fit each other stay lazy; no node when they do not.
  NodePtr join_lazy(c10::ArrayRef<NodePtr> nodes, std::int64_t dim) {
    const auto& first = static_cast<const LazyNode&>(*nodes[0]);
    const std::int64_t along = first.stack_dim();
    bool same_count = true;
    for (const NodePtr& node : nodes) {
      const auto& lazy = static_cast<const LazyNode&>(*node);
      if (lazy.stack_dim() != along || lazy.batch().size() != first.batch().size()) return {};
      same_count = same_count && lazy.elements().size() == first.elements().size();
    }
    std::vector<NodePtr> elements;
    if (kind_ == Join::cat && dim == along) {
      for (const NodePtr& node : nodes) {
        const auto& own = static_cast<const LazyNode&>(*node).elements();
        elements.insert(elements.end(), own.begin(), own.end());
      }
      return lazy_stack(std::move(elements), along);
    }
    if (!same_count) return {};
    const RecursionGuard guard;
    const bool before = kind_ == Join::stack ? dim <= along : dim < along;
    for (std::size_t j = 0; j < first.elements().size(); ++j) {
      c10::SmallVector<const Node*, 8> column;
      for (const NodePtr& node : nodes)
        column.push_back(static_cast<const LazyNode&>(*node).elements()[j].get());
      elements.push_back(begin({}, column, before ? dim : dim - 1));
    }
    return lazy_stack(std::move(elements), kind_ == Join::stack && before ? along + 1 : along);
  }

  // A dictionary that is joined to lazy stacks along their own dimension gives its parts as elements.
  NodePtr join_mixed(c10::ArrayRef<NodePtr> nodes, std::int64_t dim) const {
    std::vector<NodePtr> elements;
    for (const NodePtr& node : nodes) {
      const LazyNode* lazy = as_lazy(node.get());
      if (lazy != nullptr && lazy->stack_dim() != dim) return {};
      if (lazy != nullptr) {
        elements.insert(elements.end(), lazy->elements().begin(), lazy->elements().end());
        continue;
      }
      if (static_cast<std::size_t>(dim) >= node->batch().size()) return {};
      for (const TensorDict& part : TensorDict(dense_form(node)).unbind(dim))
        elements.push_back(part.node());
    }
    return lazy_stack(std::move(elements), dim);
  }

  // Non-tensor values: a stack of them, or one value that is the same everywhere.
  NodePtr join_non_tensor(std::string_view key, c10::ArrayRef<NodePtr> nodes,
                          std::int64_t dim) const {
    const Sizes batch = joined(
        nodes.size(), dim, [&](std::size_t k) { return nodes[k]->batch(); }, "batch sizes", key);
    if (nodes[0]->kind() == NodeKind::nested_tensor && kind_ == Join::cat)
      return cat_nested_tensor(key, nodes);
    if (kind_ == Join::stack) {
      // Of its own: a source may yet be given another batch size.
      std::vector<NodePtr> elements;
      for (const NodePtr& node : nodes) elements.push_back(node->shallow_copy());
      return lazy_stack(std::move(elements), dim);
    }
    const auto json_of = [](const NodePtr& node) {
      return node->kind() == NodeKind::non_tensor ? &static_cast<const NonTensorNode&>(*node).json()
                                                  : nullptr;
    };
    const std::string* json = json_of(nodes[0]);
    bool same = json != nullptr;
    for (const NodePtr& node : nodes) {
      const std::string* one = json_of(node);
      same = same && one != nullptr && *one == *json;
    }
    if (same) return c10::make_intrusive<NonTensorNode>(*json, batch, nodes[0]->device());
    std::vector<const NonTensorNode*> values;
    std::vector<at::Tensor> positions;
    for (const NodePtr& node : nodes) {
      const std::vector<const NonTensorNode*> own = non_tensor_values(*node);
      const auto first = static_cast<std::int64_t>(values.size());
      const auto past = first + static_cast<std::int64_t>(own.size());
      positions.push_back(at::arange(first, past, at::kLong).view(node->batch()));
      values.insert(values.end(), own.begin(), own.end());
    }
    return make_non_tensor(values, at::cat(positions, dim), nodes[0]->device());
  }

  // Parts behind parts.
  NodePtr cat_nested_tensor(std::string_view key, c10::ArrayRef<NodePtr> nodes) const {
    std::vector<at::Tensor> values, sizes;
    const NestedTensorNode& first = *as_nested_tensor(nodes[0].get());
    for (const NodePtr& node : nodes) {
      const NestedTensorNode* one = as_nested_tensor(node.get());
      if (one == nullptr || one->batch().size() != 1 || one->part_dims() != first.part_dims() ||
          one->values().dtype() != first.values().dtype() ||
          one->values().device() != first.values().device()) {
        fail(Code::unsupported, "cat: \"", key,
             "\" is a nested tensor: cat needs nested tensors with one batch dimension, the same "
             "number of dimensions, dtype and device");
      }
      values.push_back(one->values());
      sizes.push_back(one->sizes());
    }
    NestedTensorPtr result = make_nested_tensor(at::cat(values), at::cat(sizes));
    result->set_device(first.device());
    return result;
  }

  [[noreturn]] void fail_keys(const DenseNode& a, const DenseNode& b) const {
    for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      for (std::size_t i = 0; i < one->size(); ++i) {
        if (other->find(one->name(i)) == nullptr) {
          fail(Code::key_not_found, name(), " needs dictionaries of the same keys: \"",
               one->name(i), "\" is not in all of them");
        }
      }
    }
    fail(Code::internal, "keys that differ in number do not differ");
  }

  void fill(const Level& level) {
    const DenseNode& first = *level.sources[0];
    const std::size_t n = level.sources.size();
    c10::SmallVector<const Value*, 8> values(n);
    for (std::size_t i = 0; i < first.size(); ++i) {
      std::size_t nodes = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t at = KeyMatch(first, *level.sources[k])(i);
        if (at == Schema::npos) fail_keys(first, *level.sources[k]);
        require_entry(*level.sources[k], at);
        values[k] = &level.sources[k]->value(at);
        nodes += values[k]->is_node() ? 1 : 0;
      }
      if (nodes == 0) {
        level.target->push_value(leaf(first.name(i), values, level.dim));
      } else if (nodes == n) {
        c10::SmallVector<const Node*, 8> inner;
        for (const Value* value : values) inner.push_back(value->node().get());
        level.target->push_value(begin(first.name(i), inner, level.dim));
      } else {
        fail(Code::wrong_entry, name(), ": \"", first.name(i),
             "\" is a dictionary in one place and a tensor in another");
      }
    }
  }

  Value leaf(std::string_view key, c10::ArrayRef<const Value*> values, std::int64_t dim) const {
    const Sizes sizes = joined(
        values.size(), dim, [&](std::size_t k) { return values[k]->tensor().sizes(); }, "shapes",
        key);
    c10::SmallVector<const at::Tensor*, 8> tensors;
    for (const Value* value : values) tensors.push_back(&value->tensor());
    return join_tensors(kind_, tensors, dim, sizes, fast_);
  }

  Join kind_;
  std::int64_t dim_;
  bool lenient_;
  bool fast_;
  Traversal<Level> walk_;
  Memo<NodePtr> memo_;
  std::vector<NodePtr> read_out_;  // sources; levels further down look at what they hold
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

TensorDict TensorDict::stack(c10::ArrayRef<TensorDict> sources, std::int64_t dim) {
  return TensorDict(run(Join::stack, sources, dim, /*lenient=*/false));
}

TensorDict TensorDict::cat(c10::ArrayRef<TensorDict> sources, std::int64_t dim) {
  return TensorDict(run(Join::cat, sources, dim, /*lenient=*/false));
}

TensorDict maybe_dense_stack(c10::ArrayRef<TensorDict> sources, std::int64_t dim) {
  return TensorDict(run(Join::stack, sources, dim, /*lenient=*/true));
}

}  // namespace td
