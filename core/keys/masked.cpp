#include "core/keys/masked.h"

#include "core/base/recursion_guard.h"
#include "core/keys/entries.h"
#include "core/tensor/assign.h"
#include "core/tensor/dtype.h"
#include "core/tensor/index_items.h"
#include "core/tensor/scalar.h"
#include "core/tensor/writes.h"
#include "core/tree/engine.h"
#include "core/tree/evenness.h"
#include "core/tree/lazy_index.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/leaf_op.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

[[noreturn]] void fail_fit(const char* what, SizesView mask, SizesView sizes) {
  fail(Code::shape, what, " of shape ", show_sizes(mask), " does not fit a tensor of shape ",
       show_sizes(sizes));
}

const at::Tensor& require_mask(const at::Tensor& mask, const char* what) {
  if (mask.scalar_type() != at::kBool) {
    fail(Code::dtype, what, " must hold bools, found ", dtype_name(mask.scalar_type()));
  }
  return mask;
}

// The mask with dimensions appended up to the leaf's sizes.
at::Tensor fitted(const char* what, const at::Tensor& mask, const at::Tensor& leaf) {
  if (!begins_with(leaf.sizes(), mask.sizes())) fail_fit(what, mask.sizes(), leaf.sizes());
  Sizes sizes(mask.sizes().begin(), mask.sizes().end());
  sizes.resize(leaf.sizes().size(), 1);
  const at::Tensor here = mask.device() == leaf.device() ? mask : mask.to(leaf.device());
  return here.view(sizes);
}

}  // namespace

at::Tensor expand_right(const at::Tensor& tensor, SizesView sizes) {
  const SizesView own = tensor.sizes();
  bool fits = own.size() <= sizes.size();
  for (std::size_t i = 0; fits && i < own.size(); ++i) fits = own[i] == 1 || own[i] == sizes[i];
  for (const std::int64_t size : sizes) fits = fits && size >= 0;
  if (!fits) {
    fail(Code::shape, "a tensor of shape ", show_sizes(own), " cannot be expanded on the right to ",
         show_sizes(sizes));
  }
  at::Tensor wide = tensor;
  for (std::size_t i = own.size(); i < sizes.size(); ++i) wide = wide.unsqueeze(-1);
  return wide.expand(sizes);
}

TensorDict masked_select(const TensorDict& td, const at::Tensor& mask) {
  at::Tensor fitting = require_mask(mask, "a mask");
  const auto dims = static_cast<std::int64_t>(td.batch_size().size());
  while (fitting.dim() > dims && fitting.size(-1) == 1) fitting = fitting.squeeze(-1);
  const NodePtr picked = read_at(td.node(), IndexItem::of(fitting));
  // A mask returns elements of a lazy stack unchanged: copy them.
  return has_lazy(picked) ? TensorDict(picked).clone() : TensorDict(picked);
}

namespace {

// The leaves that a mask fills, each with its mask. Each element of a lazy stack has its part of the mask, so
// elements may differ in keys and shapes.
class MaskedWrites : public WalkSink<Take::elements> {
 public:
  MaskedWrites(const at::Tensor& mask, const at::Tensor& value) : value_(value), next_(mask) {
    if (!value.is_meta()) number_ = value.item();
  }

  // Fills a shared node once for each mask.
  std::uintptr_t scope(const Here& here) const {
    const auto above = reinterpret_cast<std::uintptr_t>(masks_.back().unsafeGetTensorImpl());
    return here.is_entry() ? above : above + 1 + here.index();
  }
  Take meet(const Here& here, NodesHere) {
    if (here.is_root()) return Take::elements;
    next_ = masks_.back();
    if (here.is_entry()) return Take::elements;
    const std::int64_t dim = stack_of(here.node()).stack_dim();
    if (dim >= next_.dim()) return Take::elements;
    next_ = next_.select(dim, static_cast<std::int64_t>(here.index()));
    held_.push_back(next_);
    return Take::elements;
  }
  void enter(const Here&, Dicts) { masks_.push_back(next_); }
  void enter_lazy(const Here&, const LazyNode& lazy, NodesHere) {
    const auto n = static_cast<std::int64_t>(lazy.elements().size());
    if (lazy.stack_dim() < next_.dim() && next_.size(lazy.stack_dim()) != n)
      fail_fit("a mask", next_.sizes(), lazy.batch());
    masks_.push_back(next_);
  }
  Made leave(const Here&, bool) {
    masks_.pop_back();
    return {};
  }
  void leaf(const Here& here, Tensors tensors) {
    if (number_) require_fits(*number_, tensors[0]->scalar_type(), "masked_fill");
    writes_.fill(here.path(), *tensors[0], fitted("a mask", masks_.back(), *tensors[0]), value_);
  }
  void nested_tensor(const Here&, const NestedTensorNode&, NodesHere) {
    fail(Code::unsupported, "a nested tensor among the entries cannot be filled by a mask");
  }

  void run() {
    writes_.run([](Writes::Write& write) {
      write.target->masked_fill_(*write.sources[0], *write.sources[1]);
    });
  }

 private:
  const at::Tensor& value_;
  std::optional<c10::Scalar> number_;
  at::Tensor next_;                // of the next node
  std::vector<at::Tensor> masks_;  // of the open levels
  std::vector<at::Tensor> held_;   // keeps their addresses unique
  Writes writes_{Writes::Hold::owns};
};

}  // namespace

void masked_fill_(const TensorDict& td, const at::Tensor& mask, const at::Tensor& value) {
  require_mask(mask, "a mask");
  if (value.dim() != 0) {
    fail(Code::shape, "masked_fill takes one value, found shape ", show_sizes(value.sizes()));
  }
  InPlace target(td.node());
  MaskedWrites writes(mask, value);
  walk(target.node(), writes, all_entries());
  writes.run();
  target.commit();
}

TensorDict masked_fill(const TensorDict& td, const at::Tensor& mask, const at::Tensor& value) {
  require_mask(mask, "a mask");
  if (value.dim() != 0) {
    fail(Code::shape, "masked_fill takes one value, found shape ", show_sizes(value.sizes()));
  }
  TensorDict copy = td.clone();
  masked_fill_(copy, mask, value);
  return copy;
}

namespace {

class WhereOp final : public ZipOp {
 public:
  WhereOp(const at::Tensor& condition, const std::optional<at::Tensor>& pad)
      : condition_(condition), pad_(pad) {}

  at::Tensor leaf(const Here& here, Tensors tensors) const override {
    const at::Tensor* one = tensors[0];
    const at::Tensor* two = tensors[1];
    if (one != nullptr && two != nullptr && one->sizes() != two->sizes()) {
      fail(Code::shape, "where: ", show_path(here.path()), " has shapes ", show_sizes(one->sizes()),
           " and ", show_sizes(two->sizes()));
    }
    const at::Tensor& known = one != nullptr ? *one : *two;
    // The fill value takes the dtype of the existing tensor.
    const at::Tensor filler =
        one != nullptr && two != nullptr ? at::Tensor() : pad_->to(known.options());
    return at::where(fitted("a condition", condition_, known), one != nullptr ? *one : filler,
                     two != nullptr ? *two : filler);
  }

  // Equal values stay what they are; others are picked for each element of the batch.
  Value data(const Here& here, NodesHere nodes) const override {
    if (nodes[0] == nullptr || nodes[1] == nullptr || same_non_tensor(*nodes[0], *nodes[1]))
      return ZipOp::data(here, nodes);
    std::vector<const NonTensorNode*> values = non_tensor_values(*nodes[0]);
    const std::vector<const NonTensorNode*> others = non_tensor_values(*nodes[1]);
    if (nodes[0]->batch() != nodes[1]->batch()) {
      fail(Code::shape, "where: ", show_path(here.path()), " has batch sizes ",
           show_sizes(nodes[0]->batch()), " and ", show_sizes(nodes[1]->batch()));
    }
    const auto n = static_cast<std::int64_t>(values.size());
    values.insert(values.end(), others.begin(), others.end());
    const at::Tensor positions = at::arange(n, at::kLong).view(nodes[0]->batch());
    const at::Tensor condition = fitted("a condition", condition_.to(at::kCPU), positions);
    return make_non_tensor(values, at::where(condition, positions, positions + n),
                           nodes[0]->device());
  }

 private:
  const at::Tensor& condition_;
  const std::optional<at::Tensor>& pad_;
};

// Dictionaries that both have, and that lose keys or sizes when they are read as a whole.
std::vector<std::string> uneven_entries(const TensorDict& one, const TensorDict& two) {
  std::vector<std::string> found;
  if (reads_as_one(one.node()) && reads_as_one(two.node())) return found;
  for (std::string& name : entry_names(*one.node())) {
    const std::string_view key = name;
    if (one.kind_of(key) != EntryKind::dict || two.kind_of(key) != EntryKind::dict) continue;
    if (!reads_as_one(one.get_dict(key).node()) || !reads_as_one(two.get_dict(key).node()))
      found.push_back(std::move(name));
  }
  return found;
}

// Where `uneven` entries are picked by themselves.
TensorDict where_each(const TensorDict& td, const at::Tensor& condition, const TensorDict& other,
                      const std::optional<at::Tensor>& pad,
                      const std::vector<std::string>& uneven) {
  const RecursionGuard guard;
  std::vector<std::string_view> keys(uneven.begin(), uneven.end());
  const std::vector<Path> apart(keys.begin(), keys.end());
  TensorDict result = where(exclude(td, apart), condition, exclude(other, apart), pad);
  for (const Path key : apart)
    result.set(key, where(td.get_dict(key), condition, other.get_dict(key), pad));
  std::vector<std::string> names = entry_names(*td.node());
  for (std::string& name : entry_names(*result.node())) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  keys.assign(names.begin(), names.end());
  return select(result, std::vector<Path>(keys.begin(), keys.end()), {false, true});
}

}  // namespace

TensorDict where(const TensorDict& td, const at::Tensor& condition, const TensorDict& other,
                 const std::optional<at::Tensor>& pad) {
  require_mask(condition, "a condition");
  // As a whole the stacks show only the keys that all elements have.
  const std::int64_t dim = unequal_along(*td.node(), *other.node());
  const bool all = dim >= condition.dim();  // it holds for each element as it is
  if (dim >= 0 && (all || condition.size(dim) == td.batch_size()[static_cast<std::size_t>(dim)])) {
    return TensorDict(each_of_both(
        *td.node(), *other.node(), [&](std::int64_t i, const NodePtr& one, const NodePtr& two) {
          const at::Tensor own = all ? condition : condition.select(dim, i);
          return where(TensorDict(one), own, TensorDict(two), pad).node();
        }));
  }
  if (pad && pad->dim() != 0) {
    fail(Code::shape, "where: the value for missing entries has shape ", show_sizes(pad->sizes()),
         "; one number is needed");
  }
  const std::vector<std::string> uneven = uneven_entries(td, other);
  if (!uneven.empty()) return where_each(td, condition, other, pad, uneven);
  WalkRules policy;
  if (pad) policy.missing = WalkRules::Missing::fill;
  policy.what = "where";
  return TensorDict(
      zip({without_lazy(td.node()), without_lazy(other.node())}, WhereOp(condition, pad), policy));
}

TensorDict where(const TensorDict& td, const at::Tensor& condition, const at::Tensor& other) {
  require_mask(condition, "a condition");
  return TensorDict(map(without_lazy(td.node()), LeafOp([&](const at::Tensor& leaf) {
                          if (!broadcasts(other.sizes(), leaf.sizes()))
                            fail_fit("a value", other.sizes(), leaf.sizes());
                          return at::where(fitted("a condition", condition, leaf), leaf,
                                           other.to(leaf.device()));
                        })));
}

}  // namespace td
