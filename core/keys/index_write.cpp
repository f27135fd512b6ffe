// Writes part of a dictionary: dictionary[index] = value.
#include "core/base/recursion_guard.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/tensor_index.h"
#include "core/tensor/writes.h"
#include "core/tree/batch_op.h"
#include "core/tree/lazy_index.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/sub_tensordict.h"
#include "core/tree/tensorclass.h"
#include "core/tree/tensordict.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <forward_list>

namespace td {

namespace {

// Zeros of the full batch, for an entry with the sizes of the indexed part.
class ZerosOp final : public BatchOp {
 public:
  ZerosOp(SizesView batch, std::size_t part_dims) : batch_(batch), part_dims_(part_dims) {}
  Sizes batch(SizesView before) const override {
    Sizes sizes(batch_.begin(), batch_.end());
    sizes.append(before.begin() + part_dims_, before.end());
    return sizes;
  }
  at::Tensor leaf(const at::Tensor& before) const override {
    return at::zeros(batch(before.sizes()), before.options().requires_grad(false));
  }

 private:
  SizesView batch_;
  std::size_t part_dims_;
};

// An index compiled for one batch size. The caller owns items and batch.
struct Scope {
  Scope(c10::ArrayRef<IndexItem> given, SizesView batch_size)
      : items(given), plan(given, batch_size), batch(batch_size), part(plan.sizes(batch_size)) {}
  // For an element outside the index: it receives new entries as zeros.
  Scope(SizesView batch_size, SizesView part_sizes)
      : untouched(true),
        plan(c10::ArrayRef<IndexItem>(), batch_size),
        batch(batch_size),
        part(part_sizes.begin(), part_sizes.end()) {}
  bool untouched = false;
  c10::ArrayRef<IndexItem> items;
  IndexPlan plan;
  SizesView batch;
  Sizes part;  // with which values start
};

// An indexed write.
class Write {
 public:
  // `everywhere`: elements of lazy stacks outside the index receive new entries, too, as zeros.
  explicit Write(bool everywhere = false) : everywhere_(everywhere) {}

  // A dictionary of any kind but a sub-tensordict. `source` has the batch size of the part.
  void plan(const NodePtr& target, c10::ArrayRef<IndexItem> items, const NodePtr& source) {
    if (const LazyNode* lazy = as_lazy(target.get())) {
      plan_lazy(*lazy, items, target->batch().size(), source);
    } else {
      pair(target, source, root_.emplace(items, target->batch()), /*root=*/true);
    }
    pair_up();
  }

  void plan_fill(const NodePtr& target, c10::ArrayRef<IndexItem> items, const at::Tensor& value) {
    if (as_lazy(target.get()) != nullptr) {
      plan(target, items, filled_with(read_at(target, items), value));
      return;
    }
    Scope& scope = root_.emplace(items, target->batch());
    Fill fill{*this, scope, value};
    walk(target, fill, all_entries());
    pair_up();
  }

  void run() { changes_.run(); }

 private:
  struct Pair {
    const DenseNode* target;
    const DenseNode* source;
    Scope* scope;
  };

  // Plans one value for each tensor.
  struct Fill : WalkSink<Take::whole> {
    Write& write;
    Scope& all;
    const at::Tensor& number;
    Fill(Write& planned, Scope& scope_of_all, const at::Tensor& value)
        : write(planned), all(scope_of_all), number(value) {}

    Take meet(const Here&, NodesHere nodes) {
      if (const LazyNode* lazy = as_dict_stack(nodes[0])) {
        const NodePtr part = read_lazy(*lazy, all.items, all.batch.size());
        write.plan_lazy(*lazy, all.items, all.batch.size(), write.filled_with(part, number));
      }
      return Take::whole;
    }
    void leaf(const Here& here, Tensors tensors) {
      write.plan_leaf(here.name(), *tensors[0], number, all);
    }
    void value(const Here& here, NodesHere nodes) {
      if (here.is_root() || !is_nested_tensor(*nodes[0])) return;
      fail(Code::unsupported, show_path(here.path()),
           " is a nested tensor, whose parts cannot be filled");
    }
  };

  void pair_up() {
    pairs_.run([&](const Pair& at) { plan_level(at); });
  }

  // The part, with each tensor replaced by the value.
  NodePtr filled_with(const NodePtr& part, const at::Tensor& value) {
    struct FillOp final : BatchOp {
      explicit FillOp(const at::Tensor& given) : value(given) {}
      bool keeps_batch() const override { return true; }
      Sizes batch(SizesView before) const override { return Sizes(before.begin(), before.end()); }
      at::Tensor leaf(const at::Tensor& before) const override {
        if (!broadcasts(value.sizes(), before.sizes())) {
          fail(Code::shape, "cannot write shape ", show_sizes(value.sizes()),
               " into a part of shape ", show_sizes(before.sizes()));
        }
        return value.expand(before.sizes());
      }
      const at::Tensor& value;
    };
    held_.push_back(map(dense_form(part), FillOp(value)));
    return held_.back();
  }

  void plan_leaf(std::string_view name, const at::Tensor& target, const at::Tensor& source,
                 Scope& scope) {
    require_batch(name, target.sizes(), scope.batch);
    const Sizes part = scope.plan.sizes(target.sizes());
    const at::Tensor& value = fitted_.fit(source, part.size());
    if (!broadcasts(value.sizes(), part)) {
      fail(Code::shape, "cannot write shape ", show_sizes(source.sizes()), " into the part of \"",
           name, "\" of shape ", show_sizes(part));
    }
    changes_.writes().set(name, target, value, &scope.plan);
  }

  void pair(const NodePtr& target, const NodePtr& source, Scope& scope, bool root = false) {
    const NodePtr read = dense_form(source);
    if (read != source) held_.push_back(read);
    const DenseNode* into = as_dense(target.get());
    const DenseNode* from = as_dense(read.get());
    if (into == nullptr || from == nullptr) {
      fail(Code::unsupported, "a non-tensor value can be written at an index as an entry only");
    }
    const Pair pair{into, from, &scope};
    if (root) return pairs_.add(pair);
    pairs_.add_once({into, from}, pair, reinterpret_cast<std::uintptr_t>(&scope));
  }

  void plan_level(const Pair& level) {
    const DenseNode& target = *level.target;
    const DenseNode& source = *level.source;
    const KeyMatch where(source, target);
    for (std::size_t i = 0; i < source.size(); ++i) {
      const Value& from = source.value(i);
      const std::size_t at = where(i);
      if (at == Schema::npos) {
        if (target.locked()) {
          fail(Code::locked, "the dictionary is locked and has no entry \"", source.name(i),
               "\" to write");
        }
        make(target, source.name(i), from, *level.scope);
        continue;
      }
      const Value& into = target.value(at);
      const bool nodes = into.is_node() && from.is_node();
      if (level.scope->untouched) {
        if (is_dict(into) && is_dict(from))
          plan_zeros(into.node(), from.node(), level.scope->batch.size(), level.scope->part);
        continue;
      }
      if (into.is_node() != from.is_node() ||
          (nodes && is_dict(*into.node()) != is_dict(*from.node()))) {
        fail(Code::wrong_entry, "cannot write a ", kind_word(from), " into \"", source.name(i),
             "\", which is a ", kind_word(into));
      }
      if (!nodes) {
        plan_leaf(source.name(i), into.tensor(), from.tensor(), *level.scope);
      } else if (!is_dict(*into.node())) {
        plan_non_tensor(target, at, *from.node(), *level.scope);
      } else if (const LazyNode* lazy = as_lazy(into.node().get())) {
        require_batch(std::string_view(source.name(i)), lazy->batch(), level.scope->batch);
        plan_lazy(*lazy, level.scope->items, level.scope->batch.size(), from.node());
      } else {
        pair(into.node(), from.node(), *level.scope);
      }
    }
  }

  // Non-tensor values: another value for a part makes one value for each element.
  void plan_non_tensor(const DenseNode& target, std::size_t at, const Node& source,
                       const Scope& scope) {
    require_entry(target, at);
    NodePtr changed = written(target.value(at).node(), source, scope);
    if (!changed.defined()) return;
    if (target.memmapped() || target.shared()) {
      fail(Code::locked, "the value of \"", target.name(at),
           "\" is mapped or shared and cannot become one value for each element");
    }
    changes_.set(target, at, std::move(changed));
  }

  // The values with those of a part replaced; null if nothing changes.
  static NodePtr written(const NodePtr& target, const Node& source, const Scope& scope) {
    const at::NoGradGuard no_grad;
    std::vector<const NonTensorNode*> values = non_tensor_values(*target);
    const std::vector<const NonTensorNode*> given = non_tensor_values(source);
    const auto n = static_cast<std::int64_t>(values.size());
    const at::Tensor all = at::arange(n, at::kLong).view(target->batch());
    const at::Tensor part = scope.plan.read(all, false).contiguous();
    if (part.numel() != static_cast<std::int64_t>(given.size())) {
      fail(Code::shape, "values for a part of shape ", show_sizes(part.sizes()),
           " were given with batch size ", show_sizes(source.batch()));
    }
    const std::int64_t* positions = part.data_ptr<std::int64_t>();
    bool changes = false;
    for (std::size_t k = 0; k < given.size(); ++k) {
      const NonTensorNode*& value = values[static_cast<std::size_t>(positions[k])];
      changes = changes || value->json() != given[k]->json();
      value = given[k];
    }
    return changes ? make_non_tensor(values, all, target->device()) : NodePtr();
  }

  // Writes each picked element with its part of the source.
  void plan_lazy(const LazyNode& target, c10::ArrayRef<IndexItem> items, std::size_t dims,
                 const NodePtr& source) {
    const RecursionGuard guard;
    require_elements(target);
    const LazyIndex at(items, dims, target);
    if (!at.separable) return plan_scattered(target, items, dims, source);
    std::vector<NodePtr> parts{source};
    for (std::size_t d = 0; d < at.shape.size(); ++d) {
      std::vector<NodePtr> finer;
      for (const NodePtr& part : parts) {
        for (const TensorDict& one : TensorDict(part).unbind(at.result_dim))
          finer.push_back(one.node());
      }
      parts = std::move(finer);
    }
    std::vector<bool> touched(target.elements().size(), false);
    for (std::size_t k = 0; k < at.picks.size(); ++k) {
      const auto pick = static_cast<std::size_t>(at.picks[k]);
      touched[pick] = true;
      plan_element(target.elements()[pick], at.rest, parts[k]);
    }
    if (!everywhere_ || std::find(touched.begin(), touched.end(), false) == touched.end()) return;
    const SizesView element = target.elements()[0]->batch().slice(0, dims - 1);
    const std::size_t rest_dims = IndexPlan(at.rest, element).sizes(element).size();
    plan_untouched(target, touched, dims, source, at.shape.size() + rest_dims);
  }

  void plan_element(const NodePtr& element, std::vector<IndexItem> items, const NodePtr& source) {
    held_.push_back(source);
    if (const LazyNode* lazy = as_lazy(element.get())) {
      plan_lazy(*lazy, items, element->batch().size(), source);
      return;
    }
    items_.push_front(std::move(items));
    scopes_.emplace_front(items_.front(), element->batch());
    pair(element, source, scopes_.front());
  }

  // For an index that cannot be split: computes positions, and gives each element its own.
  void plan_scattered(const LazyNode& target, c10::ArrayRef<IndexItem> items, std::size_t dims,
                      const NodePtr& source) {
    const SizesView batch = known_sizes(target.batch()).slice(0, dims);
    const auto stack = static_cast<std::size_t>(target.stack_dim());
    const IndexPlan plan(items, batch);
    const auto n =
        std::accumulate(batch.begin(), batch.end(), std::int64_t{1}, std::multiplies<>());
    const at::Tensor positions =
        plan.read(at::arange(n, at::kLong).view(batch), false).reshape({-1});
    Sizes flat{-1};
    const std::size_t part_dims = plan.sizes(batch).size();
    flat.append(source->batch().begin() + part_dims, source->batch().end());
    const TensorDict values = TensorDict(dense_form(source)).reshape(flat);
    std::vector<at::Tensor> places(batch.size());  // one number for each dimension
    at::Tensor left = positions;
    for (std::size_t d = batch.size(); d-- > 0;) {
      places[d] = left.remainder(batch[d]);
      left = left.div(batch[d], "floor");
    }
    std::vector<bool> touched(target.elements().size(), false);
    for (std::size_t k = 0; k < target.elements().size(); ++k) {
      const at::Tensor own = places[stack].eq(static_cast<std::int64_t>(k)).nonzero().reshape({-1});
      if (own.numel() == 0) continue;
      std::vector<IndexItem> rest;
      for (std::size_t d = 0; d < batch.size(); ++d) {
        if (d != stack) rest.push_back(IndexItem::of(places[d].index_select(0, own)));
      }
      // Without other dimensions an element is written as a whole; the last of several values counts.
      const IndexItem which =
          rest.empty() ? IndexItem::at(own[-1].item<std::int64_t>()) : IndexItem::of(own);
      touched[k] = true;
      plan_element(target.elements()[k], rest, values.index(which).node());
    }
    if (everywhere_) plan_untouched(target, touched, dims, source, part_dims);
  }

  // Adds new entries to elements outside the index.
  void plan_untouched(const LazyNode& target, const std::vector<bool>& touched, std::size_t dims,
                      const NodePtr& source, std::size_t part_dims) {
    const SizesView part = source->batch().slice(0, part_dims);
    for (std::size_t k = 0; k < touched.size(); ++k) {
      if (!touched[k]) plan_zeros(target.elements()[k], source, dims - 1, part);
    }
  }

  // `dims`, `part`: the indexed dimensions of the element and of the source.
  void plan_zeros(const NodePtr& element, const NodePtr& source, std::size_t dims, SizesView part) {
    const RecursionGuard guard;
    held_.push_back(source);
    const LazyNode* lazy = as_lazy(element.get());
    if (lazy == nullptr) {
      scopes_.emplace_front(element->batch().slice(0, dims), part);
      return pair(element, source, scopes_.front());
    }
    const auto stack = static_cast<std::size_t>(lazy->stack_dim());
    std::vector<TensorDict> parts;
    if (stack >= dims) {
      parts = TensorDict(source).unbind(static_cast<std::int64_t>(part.size() + stack - dims));
    }
    for (std::size_t k = 0; k < lazy->elements().size(); ++k) {
      plan_zeros(lazy->elements()[k], stack < dims ? source : parts[k].node(),
                 stack < dims ? dims - 1 : dims, part);
    }
  }

  // Adds a new entry as zeros of the full batch; it is then written like the others.
  void make(const DenseNode& holder, std::string_view name, const Value& from, Scope& scope) {
    require_batch(name, sizes_of(from), scope.part);
    const ZerosOp op(scope.batch, scope.part.size());
    const std::optional<c10::Device>& device = holder.device();
    if (!from.is_node()) {
      at::Tensor made = op.leaf(from.tensor());
      if (device) made = move_to(made, *device);
      if (!scope.untouched) changes_.writes().set(name, made, from.tensor(), &scope.plan);
      return changes_.set(holder, name, std::move(made));
    }
    const Node& source = *from.node();
    if (as_lazy(&source) != nullptr && !is_dict(source)) {
      const NodePtr none =
          c10::make_intrusive<NonTensorNode>("null", op.batch(source.batch()), device);
      const NodePtr made = scope.untouched ? none : written(none, source, scope);
      return changes_.set(holder, name, made.defined() ? made : none);
    }
    NodePtr made = map(all_dense(from.node()), op);
    if (device) made = TensorDict(made).to(*device).node();
    if (holds_entries(*made) && !scope.untouched) pair(made, from.node(), scope);
    changes_.set(holder, name, std::move(made));
  }

  const bool everywhere_;
  std::optional<Scope> root_;
  std::forward_list<std::vector<IndexItem>> items_;  // of the scopes below
  std::forward_list<Scope> scopes_;                  // of elements of lazy stacks
  std::vector<NodePtr> held_;
  Traversal<Pair> pairs_;
  FittedValues fitted_;
  Changes changes_;
};

// Broadcasts the value to the part's batch size, by the rules of indexing.
TensorDict align(const TensorDict& value, SizesView part) {
  const SizesView batch = value.batch_size();
  if (batch == part) return value;
  const auto n = static_cast<std::ptrdiff_t>(batch.size());
  if (n > 0 && batch.size() < part.size() &&
      std::equal(batch.begin(), batch.end(), part.end() - n)) {
    return value.expand(part);
  }
  try {
    TensorDict copy = TensorDict(dense_form(value.node())).clone(false);
    copy.set_batch_size(part);
    return copy;
  } catch (const Error&) {
    fail(Code::shape, "the indexed part has batch size ", show_sizes(part),
         ", which differs from the batch size ", show_sizes(batch), " of the value");
  }
}

// The batch size of a part.
Sizes part_batch(const NodePtr& node, c10::ArrayRef<IndexItem> items) {
  if (as_lazy(node.get()) == nullptr) return IndexPlan(items, node->batch()).sizes(node->batch());
  const NodePtr part = read_at(node, items);
  return Sizes(part->batch().begin(), part->batch().end());
}

// A part of a sub-tensordict is a part of its parent, which is written: only the part changes, and new
// entries get the parent's batch size.
template <class F>
void write_behind(const NodePtr& node, c10::ArrayRef<IndexItem> items, F&& write) {
  const TensorDict part = sub_tensordict(TensorDict(node), items);
  const SubTensorDictNode& inner = *as_sub_tensordict(part.node().get());
  TensorDict behind(inner.parent());
  if (!is_part(*behind.node())) return write(behind, inner.items());
  // Elements of a lazy stack differ, and there is no one index: what is seen is written, then put back.
  const SubTensorDictNode& whole = *as_sub_tensordict(node.get());
  TensorDict seen = TensorDict(dense_form(node)).clone(/*recurse=*/false);
  write(seen, items);
  write_part(TensorDict(whole.parent()), whole.items(), seen);
}

void write_at(const TensorDict& td, c10::ArrayRef<IndexItem> items, const TensorDict& value,
              bool everywhere) {
  const NodePtr& node = td.node();
  if (node->tensorclass()) require_alike(*node, *value.node());
  TensorDict source = align(value, part_batch(node, items));
  if (td.device() && source.device() != td.device()) source = source.to(*td.device());
  Write write(everywhere);
  write.plan(node, items, source.node());
  write.run();
}

}  // namespace

void write_part(const TensorDict& td, c10::ArrayRef<IndexItem> items, const TensorDict& value) {
  if (!is_part(*td.node())) return write_at(td, items, value, /*everywhere=*/true);
  write_behind(td.node(), items, [&](const TensorDict& whole, c10::ArrayRef<IndexItem> part) {
    write_part(whole, part, value);
  });
}

void TensorDict::set_at(c10::ArrayRef<IndexItem> items, const TensorDict& value) {
  if (is_part(*node_)) return write_part(*this, items, value);
  write_at(*this, items, value, /*everywhere=*/false);
}

void TensorDict::fill_at(c10::ArrayRef<IndexItem> items, const at::Tensor& value) {
  if (is_part(*node_)) {
    return write_behind(node_, items, [&](TensorDict& td, c10::ArrayRef<IndexItem> part) {
      td.fill_at(part, value);
    });
  }
  Write write;
  write.plan_fill(node_, items, value);
  write.run();
}

}  // namespace td
