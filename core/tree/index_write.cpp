// Writes part of a dictionary: dictionary[index] = value. index_write_lazy.cpp writes to lazy stacks.
#include "core/tree/index_write.h"

#include "core/base/recursion_guard.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/batch_op.h"
#include "core/tree/engine.h"
#include "core/tree/lazy_index.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/sub_tensordict.h"
#include "core/tree/tensorclass.h"
#include "core/tree/tensordict.h"
#include "core/tree/traverse.h"

#include <ATen/ATen.h>

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

WalkRules beside() {
  WalkRules rules = all_entries();
  rules.missing = WalkRules::Missing::fill;
  rules.ignore_extra = true;
  return rules;
}

}  // namespace

// Plans to write the first tree into the second one.
class IndexWrite::Entries : public WalkSink<Take::into> {
 public:
  Entries(IndexWrite& write, c10::ArrayRef<IndexItem> items) : write_(write), items_(items) {}
  Entries(IndexWrite& write, Scope& scope) : write_(write), items_(scope.items), scope_(&scope) {}

  // Keeps the node: its values are read when the changes run.
  NodePtr read(const Node& source) { return write_.hold(dense_form(retain(source))); }

  Take meet(const Here& here, NodesHere nodes) {
    if (nodes[1] != nullptr) return Take::into;
    make(here);
    return Take::nothing;
  }
  void enter(const Here&, Dicts dicts) {
    if (scope_ == nullptr) scope_ = &write_.add_scope(items_, dicts[1]->batch());
    targets_.push_back(dicts[1]);
  }
  Made leave(const Here&, bool) {
    targets_.pop_back();
    return {};
  }
  void stack(const Here& here, const LazyNode& lazy, NodesHere nodes) {
    const NodePtr& source = write_.hold(retain(*nodes[0]));
    if (scope_ == nullptr) return write_.plan_lazy(lazy, items_, lazy.batch().size(), source);
    const std::size_t dims = scope_->batch.size();
    if (scope_->untouched) return write_.plan_zeros(retain(lazy), source, dims, scope_->part);
    require_batch(here.name(), lazy.batch(), scope_->batch);
    write_.plan_lazy(lazy, scope_->items, dims, source);
  }
  void leaf(const Here& here, Tensors tensors) {
    if (tensors[1] == nullptr) return make(here);
    if (!scope_->untouched) write_.plan_leaf(name(here), *tensors[1], *tensors[0], *scope_);
  }
  void value(const Here& here, NodesHere nodes) {
    if (here.is_root()) fail_root();
    const DenseNode& target = *targets_.back();
    const std::size_t at = target.schema()->find(name(here));
    if (at == Schema::npos) return make(here);
    if (nodes[1] == nullptr) fail_kinds(here);
    if (scope_->untouched) return;
    write_.plan_non_tensor(target, at, *nodes[0], *scope_);
  }
  bool mixed(const Here& here) {
    if (here.is_root()) fail_root();
    fail_kinds(here);  // outside the index, too: the entry could be read nowhere
  }

 private:
  static const std::string& name(const Here& here) { return here.holder().name(here.index()); }

  void make(const Here& here) {
    const DenseNode& target = *targets_.back();
    if (target.locked()) {
      fail(Code::locked, "the dictionary is locked and has no entry \"", name(here), "\" to write");
    }
    write_.make(target, name(here), here.value(), *scope_);
  }
  [[noreturn]] static void fail_root() {
    fail(Code::unsupported, "a non-tensor value can be written at an index as an entry only");
  }
  [[noreturn]] void fail_kinds(const Here& here) const {
    fail(Code::wrong_entry, "cannot write a ", kind_word(here.value()), " into \"", name(here),
         "\", which is a ", kind_word(*targets_.back()->find(name(here))));
  }

  IndexWrite& write_;
  c10::ArrayRef<IndexItem> items_;
  Scope* scope_ = nullptr;  // shared by all dictionaries; made for the first one
  c10::SmallVector<const DenseNode*, 4> targets_;
};

// Plans to write one value into each tensor.
class IndexWrite::Fill : public WalkSink<Take::into> {
 public:
  Fill(IndexWrite& write, c10::ArrayRef<IndexItem> items, const at::Tensor& value)
      : write_(write), items_(items), number_(value) {}

  void enter(const Here&, Dicts dicts) {
    if (scope_ == nullptr) scope_ = &write_.add_scope(items_, dicts[0]->batch());
  }
  void stack(const Here&, const LazyNode& lazy, NodesHere) {
    const std::size_t dims = scope_ == nullptr ? lazy.batch().size() : scope_->batch.size();
    const NodePtr part = read_lazy(lazy, items_, dims);
    write_.plan_lazy(lazy, items_, dims, write_.filled_with(part, number_));
  }
  void leaf(const Here& here, Tensors tensors) {
    write_.plan_leaf(here.name(), *tensors[0], number_, *scope_);
  }
  void nested_tensor(const Here& here, const NestedTensorNode&, NodesHere) {
    if (here.is_root()) return;
    fail(Code::unsupported, show_path(here.path()),
         " is a nested tensor, whose parts cannot be filled");
  }

 private:
  IndexWrite& write_;
  c10::ArrayRef<IndexItem> items_;
  const at::Tensor& number_;
  Scope* scope_ = nullptr;  // shared by all dictionaries
};

void IndexWrite::plan(const NodePtr& target, c10::ArrayRef<IndexItem> items,
                      const NodePtr& source) {
  Entries entries(*this, items);
  walk_pair(source, target, entries, beside());
}

void IndexWrite::fill(const TensorDict& target, c10::ArrayRef<IndexItem> items,
                      const at::Tensor& value) {
  Fill fill(*this, items, value);
  walk(target.node(), fill, all_entries());
  changes_.run();
}

void IndexWrite::plan(const NodePtr& target, const NodePtr& source, Scope& scope) {
  Entries entries(*this, scope);
  walk_pair(source, target, entries, beside());
}

NodePtr IndexWrite::filled_with(const NodePtr& part, const at::Tensor& value) {
  struct FillOp final : BatchOp {
    explicit FillOp(const at::Tensor& given) : value(given) {}
    bool keeps_batch() const override { return true; }
    Sizes batch(SizesView before) const override { return Sizes(before.begin(), before.end()); }
    at::Tensor leaf(const at::Tensor& before) const override {
      const at::Tensor fitted = without_leading_ones(value, before.sizes().size());
      if (!broadcasts(fitted.sizes(), before.sizes())) {
        fail(Code::shape, "cannot write shape ", show_sizes(value.sizes()),
             " into a part of shape ", show_sizes(before.sizes()));
      }
      return fitted.expand(before.sizes());
    }
    const at::Tensor& value;
  };
  return hold(map(all_dense(part), FillOp(value)));
}

void IndexWrite::plan_leaf(std::string_view name, const at::Tensor& target,
                           const at::Tensor& source, Scope& scope) {
  require_batch(name, target.sizes(), scope.batch);
  if (changes_.writes().set_block(name, target, source, scope.plan)) return;
  const Sizes part = scope.plan.sizes(target.sizes());
  const at::Tensor& value = fitted_.fit(source, part.size());
  if (!broadcasts(value.sizes(), part)) {
    fail(Code::shape, "cannot write shape ", show_sizes(source.sizes()), " into the part of \"",
         name, "\" of shape ", show_sizes(part));
  }
  changes_.writes().set(name, target, value, &scope.plan);
}

void IndexWrite::plan_non_tensor(const DenseNode& target, std::size_t at, const Node& source,
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

NodePtr IndexWrite::written(const NodePtr& target, const Node& source, const Scope& scope) {
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
    changes = changes || value->value() != given[k]->value();
    value = given[k];
  }
  return changes ? make_non_tensor(values, all, target->device()) : NodePtr();
}

void IndexWrite::make(const DenseNode& holder, std::string_view name, const Value& from,
                      Scope& scope) {
  require_batch(name, sizes_of(from), scope.part);
  const ZerosOp op(scope.batch, scope.part.size());
  require_batch(name, op.batch(sizes_of(from)), holder.batch());
  const std::optional<c10::Device>& device = holder.device();
  if (!from.is_node()) {
    at::Tensor made = op.leaf(from.tensor());
    if (device) made = move_to(made, *device);
    if (!scope.untouched) changes_.writes().set(name, made, from.tensor(), &scope.plan);
    return changes_.set(holder, name, std::move(made));
  }
  const Node& source = *from.node();
  if (!is_dict(source) && stack_dim_of(source)) {  // one value for each element
    const NodePtr none =
        c10::make_intrusive<NonTensorNode>(Plain(), op.batch(source.batch()), device);
    const NodePtr made = scope.untouched ? none : written(none, source, scope);
    return changes_.set(holder, name, made.defined() ? made : none);
  }
  NodePtr made = map(all_dense(from.node()), op);
  if (device) made = TensorDict(made).to(*device).node();
  if (is_dict(*made) && !scope.untouched) plan(made, from.node(), scope);
  changes_.set(holder, name, std::move(made));
}

namespace {

[[noreturn]] void fail_batch(SizesView part, SizesView batch) {
  fail(Code::shape, "the indexed part has batch size ", show_sizes(part),
       ", which differs from the batch size ", show_sizes(batch), " of the value");
}

// The value with the part's batch size, by the rules of tensordict. A lazy stack takes a value that
// broadcasts. A dense dictionary takes one whose batch size ends that of the part; the entries of
// any other must begin with the part's batch size.
TensorDict align(const TensorDict& value, SizesView part, bool lazy) {
  const SizesView batch = value.batch_size();
  if (batch == part) return value;
  const auto n = static_cast<std::ptrdiff_t>(batch.size());
  const bool expands = lazy ? broadcasts(batch, part)
                            : n > 0 && batch.size() < part.size() &&
                                  std::equal(batch.begin(), batch.end(), part.end() - n);
  if (expands) return value.expand(part);
  if (lazy) fail_batch(part, batch);
  try {
    TensorDict copy = TensorDict(dense_form(value.node())).clone(false);
    copy.set_batch_size(part);
    return copy;
  } catch (const Error&) {
    fail_batch(part, batch);
  }
}

// A part of a sub-tensordict is a part of its parent, which is written: only the part changes, and new
// entries get the parent's batch size.
template <class F>
void write_behind(const NodePtr& node, c10::ArrayRef<IndexItem> items, F&& write) {
  const TensorDict part = sub_tensordict(TensorDict(node), items);
  const auto& inner = static_cast<const SubTensorDictNode&>(*part.node());
  TensorDict behind(inner.parent());
  if (!is_part(*behind.node())) return write(behind, inner.items());
  // With different elements in a lazy stack no single index exists: write a copy, then put that back.
  const auto& whole = static_cast<const SubTensorDictNode&>(*node);
  TensorDict seen = TensorDict(dense_form(node)).clone(/*recurse=*/false);
  write(seen, items);
  write_part(TensorDict(whole.parent()), whole.items(), seen);
}

}  // namespace

void IndexWrite::write(const TensorDict& target, c10::ArrayRef<IndexItem> items,
                       const TensorDict& value) {
  const NodePtr& node = target.node();
  if (node->tensorclass()) require_alike(*node, *value.node());
  const bool lazy = stack_dim_of(*node).has_value();
  const NodePtr part = lazy ? read_at(node, items) : NodePtr();
  Scope* const scope = lazy ? nullptr : &add_scope(items, node->batch());
  TensorDict source = align(value, lazy ? part->batch() : SizesView(scope->part), lazy);
  if (target.device() && source.device() != target.device()) source = source.to(*target.device());
  if (lazy) {
    plan(node, items, source.node());
  } else {
    plan(node, source.node(), *scope);
  }
  changes_.run();
}

void write_part(const TensorDict& td, c10::ArrayRef<IndexItem> items, const TensorDict& value) {
  if (!is_part(*td.node())) return IndexWrite(/*everywhere=*/true).write(td, items, value);
  write_behind(td.node(), items, [&](const TensorDict& whole, c10::ArrayRef<IndexItem> part) {
    write_part(whole, part, value);
  });
}

void TensorDict::set_at(c10::ArrayRef<IndexItem> items, const TensorDict& value) {
  if (is_part(*node_)) return write_part(*this, items, value);
  IndexWrite().write(*this, items, value);
}

void TensorDict::fill_at(c10::ArrayRef<IndexItem> items, const at::Tensor& value) {
  if (is_part(*node_)) {
    return write_behind(node_, items, [&](TensorDict& td, c10::ArrayRef<IndexItem> part) {
      td.fill_at(part, value);
    });
  }
  IndexWrite().fill(*this, items, value);
}

}  // namespace td
