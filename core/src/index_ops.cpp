// Reading and writing a part of a dictionary.
#include "td/assign.h"
#include "td/batch_op.h"
#include "td/device.h"
#include "td/fast_path.h"
#include "td/inherit.h"
#include "td/tensordict.h"
#include "td/walk.h"

#include <ATen/ATen.h>

namespace td {

namespace {

class ReadOp final : public BatchOp {
 public:
  explicit ReadOp(const IndexPlan& plan) : plan_(plan), fast_(fast::thread_at_rest()) {}
  Sizes batch(SizesView before) const override { return plan_.sizes(before); }
  at::Tensor leaf(const at::Tensor& before) const override { return plan_.read(before, fast_); }

 private:
  const IndexPlan& plan_;
  bool fast_;
};

// Zeros of the full batch for an entry whose sizes begin with those of the indexed part.
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

// Python's rule: a mapped dictionary stays one under integers, new dimensions, the ellipsis and
// slices that begin at 0.
bool keeps_memmap(c10::ArrayRef<IndexItem> items) {
  for (const IndexItem& item : items) {
    const bool leading = item.kind == IndexKind::slice && item.start.value_or(0) == 0;
    if (!leading && item.kind != IndexKind::integer && item.kind != IndexKind::none &&
        item.kind != IndexKind::ellipsis) {
      return false;
    }
  }
  return true;
}

// An indexed write, looked at as a whole before the first value changes.
class Write {
 public:
  Write(const IndexPlan& plan, SizesView batch)
      : plan_(plan), batch_(batch), part_(plan.sizes(batch)) {}

  void plan_dict(const NodePtr& target, const NodePtr& source) {
    pair(target, source);
    while (!pairs_.empty()) {
      const Pair at = pairs_.back();
      pairs_.pop_back();
      plan_level(*at.target, *at.source);
    }
  }

  void plan_leaf(std::string_view name, const at::Tensor& target, const at::Tensor& source) {
    const Sizes part = plan_.sizes(target.sizes());
    if (!broadcasts(source.sizes(), part)) {
      fail(Code::shape, "cannot write shape ", show_sizes(source.sizes()), " into the part of \"",
           name, "\" of shape ", show_sizes(part));
    }
    require_writable(name, target, source);
    if (!plan_.gathers() && fast::plain(target) && plan_.view().repeats(target)) {
      fail(Code::torch, "several elements of the part of \"", name,
           "\" are one place in memory: clone it before writing");
    }
    leaves_.push_back({&target, &source});
  }

  void run() {
    const bool fast = fast::thread_at_rest();
    // Memory for new entries is had before anything is written.
    for (Creation& creation : creations_) make(creation);
    for (const Leaf& leaf : leaves_) plan_.write(*leaf.target, *leaf.source, fast);
    for (Creation& creation : creations_)
      creation.node->put(creation.name, std::move(creation.value));
  }

 private:
  struct Pair {
    DenseNode* target;
    const DenseNode* source;
  };
  struct Leaf {
    const at::Tensor *target, *source;  // held by the dictionaries, or by a creation
  };
  struct Creation {
    DenseNode* node;
    std::string_view name;
    const Value* source;
    Value value;
  };

  void pair(const NodePtr& target, const NodePtr& source) {
    DenseNode* into = as_dense(target.get());
    const DenseNode* from = as_dense(source.get());
    if (into == nullptr || from == nullptr) {
      fail(Code::unsupported, "writing a value that is no tensor at an index is not supported");
    }
    pairs_.push_back({into, from});
  }

  void plan_level(DenseNode& target, const DenseNode& source) {
    const Alignment where(source, target);
    for (std::size_t i = 0; i < source.size(); ++i) {
      const Value& from = source.value(i);
      const std::size_t at = where(i);
      if (at == Schema::npos) {
        if (target.locked()) {
          fail(Code::locked, "the dictionary is locked and has no entry \"", source.name(i),
               "\" to write");
        }
        creations_.push_back({&target, source.name(i), &from, {}});
        continue;
      }
      const Value& into = target.value(at);
      if (into.is_node() != from.is_node()) {
        fail(Code::wrong_entry, "cannot write a ", from.is_node() ? "dictionary" : "tensor",
             " into \"", source.name(i), "\", which is a ",
             into.is_node() ? "dictionary" : "tensor");
      }
      if (from.is_node()) {
        if (same_data(*into.node(), *from.node())) continue;
        pair(into.node(), from.node());
      } else {
        plan_leaf(source.name(i), into.tensor(), from.tensor());
      }
    }
  }

  static bool same_data(const Node& a, const Node& b) {
    return a.kind() == NodeKind::data && b.kind() == NodeKind::data &&
           static_cast<const DataNode&>(a).json() == static_cast<const DataNode&>(b).json();
  }

  // A new entry: zeros of the full batch in place of the part's, then written as the others.
  void make(Creation& creation) {
    const ZerosOp op(batch_, part_.size());
    const std::optional<c10::Device>& device = creation.node->device();
    if (!creation.source->is_node()) {
      creation.value = op.leaf(creation.source->tensor());
      if (device) creation.value = move_to(creation.value.tensor(), *device);
      leaves_.push_back({&creation.value.tensor(), &creation.source->tensor()});
      return;
    }
    NodePtr made = map(creation.source->node(), op);
    if (device) made = TensorDict(made).to(*device).node();
    if (made->kind() == NodeKind::dense) plan_dict(made, creation.source->node());
    creation.value = std::move(made);
  }

  const IndexPlan& plan_;
  SizesView batch_;
  Sizes part_;
  c10::SmallVector<Pair, 8> pairs_;
  c10::SmallVector<Leaf, 16> leaves_;
  std::vector<Creation> creations_;
};

// The value as the index rule wants it: of the part's batch size, or broadcast to it.
TensorDict align(const TensorDict& value, SizesView part) {
  const SizesView batch = value.batch_size();
  if (batch == part) return value;
  const auto n = static_cast<std::ptrdiff_t>(batch.size());
  if (n > 0 && batch.size() < part.size() &&
      std::equal(batch.begin(), batch.end(), part.end() - n)) {
    return value.expand(part);
  }
  TensorDict copy = value.clone(false);
  try {
    copy.set_batch_size(part);
  } catch (const Error&) {
    fail(Code::shape, "the indexed part has batch size ", show_sizes(part),
         ", which differs from the batch size ", show_sizes(batch), " of the value");
  }
  return copy;
}

}  // namespace

TensorDict TensorDict::index(c10::ArrayRef<IndexItem> items) const {
  const IndexPlan plan(items, batch_size());
  if (plan.is_whole()) return *this;
  NodePtr result = map(node_, ReadOp(plan));
  if (node_->memmapped() && keeps_memmap(items)) inherit_flags(*node_, result);
  return TensorDict(std::move(result));
}

void TensorDict::set_at(c10::ArrayRef<IndexItem> items, const TensorDict& value) {
  const IndexPlan plan(items, batch_size());
  TensorDict source = align(value, plan.sizes(batch_size()));
  if (device() && source.device() != device()) source = source.to(*device());
  Write write(plan, batch_size());
  write.plan_dict(node_, source.node());
  write.run();
}

void TensorDict::fill_at(c10::ArrayRef<IndexItem> items, const at::Tensor& value) {
  const IndexPlan plan(items, batch_size());
  Write write(plan, batch_size());
  visit_paths(*node_, [&](Path path, const Value& entry) {
    if (!entry.is_node()) write.plan_leaf(path.back(), entry.tensor(), value);
  });
  write.run();
}

}  // namespace td
