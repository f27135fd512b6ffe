// Calls an operator of libtorch for each leaf, or once for all leaves where libtorch can.
#include "core/math/call.h"

#include "core/math/call_fused.h"
#include "core/math/operators.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/memory_ranges.h"
#include "core/tensor/writes.h"
#include "core/tree/dense_copy.h"
#include "core/tree/paths.h"
#include "core/tree/show_leaf.h"
#include "core/tree/walk.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <set>

namespace td {

namespace {

bool is_one(const c10::IValue& value) {
  return (value.isInt() && value.toInt() == 1) || (value.isDouble() && value.toDouble() == 1.0);
}

// The properties of a call's tensors: calls that agree in them succeed or fail alike.
using Sort = std::vector<std::int64_t>;

// The properties that select a kernel.
Sort kernel_of(c10::ArrayRef<at::Tensor> row) {
  Sort sort;
  for (const at::Tensor& tensor : row) {
    sort.push_back(static_cast<std::int64_t>(tensor.scalar_type()));
    sort.push_back(static_cast<std::int64_t>(tensor.device().type()) * 256 +
                   tensor.device().index());
    sort.push_back(static_cast<std::int64_t>(tensor.layout()));
  }
  return sort;
}

Sort sort_of(c10::ArrayRef<at::Tensor> row) {
  Sort sort = kernel_of(row);
  for (const at::Tensor& tensor : row) {
    sort.push_back(tensor.dim());
    sort.insert(sort.end(), tensor.sizes().begin(), tensor.sizes().end());
  }
  return sort;
}

c10::IValue as_meta(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return value;
  const at::Tensor& tensor = value.toTensor();
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kMeta));
}

// Maps batch sizes and non-tensor values.
class ResultOp : public ZipOp {
 public:
  explicit ResultOp(const CallOptions& options) : options_(options) {}
  Sizes batch(SizesView before) const override {
    return options_.batch ? *options_.batch : Sizes(before.begin(), before.end());
  }
  Value data(const Here&, NodesHere nodes) const override {
    NodePtr copy = nodes[0]->shallow_copy();
    if (!options_.batch || copy->batch() == SizesView(*options_.batch)) return copy;
    if (one_value(*copy) == nullptr) {
      fail(Code::unsupported, "a stack of non-tensor values cannot get batch size ",
           show_sizes(*options_.batch));
    }
    copy->set_batch(*options_.batch);
    return copy;
  }

 private:
  const CallOptions& options_;
};

// Puts the result tensors in their places, with the walk that collected the arguments.
class FillOp final : public ResultOp {
 public:
  FillOp(std::vector<at::Tensor> tensors, const CallOptions& options)
      : ResultOp(options), tensors_(std::move(tensors)) {}
  at::Tensor leaf(const Here&, Tensors) const { return tensors_[next_++]; }

 private:
  std::vector<at::Tensor> tensors_;
  mutable std::size_t next_ = 0;
};

// What the elements of lazy stacks have alike, as dense. Omits what cannot be stacked, and what only some have.
NodePtr even_form(const NodePtr& root) {
  const auto form = [](const NodePtr& node) -> NodePtr {
    if (!stack_dim_of(*node)) return dense_form(node);
    require_elements(stack_of(*node));
    auto made = c10::make_intrusive<DenseNode>(node->batch(), node->device());
    for (const std::string& name : entry_names(*node)) {
      try {
        made->put(name, *entry_of(node, name));
      } catch (const Error&) {  // shapes or kinds differ
      }
    }
    return made;
  };
  return copy_dense(root, form, [](const Node&) { return std::optional<at::Tensor>(); });
}

// Writes values that were read from lazy stacks back into their elements.
class WriteBack : public WalkSink<Take::elements> {
 public:
  explicit WriteBack(Writes& writes) : writes_(writes) {}
  // Nothing was read of elements whose batch sizes differ.
  Take meet(const Here&, NodesHere nodes) {
    return entry_names(*nodes[1]).empty() ? Take::nothing : Take::elements;
  }
  void leaf(const Here& here, Tensors tensors) {
    if (!tensors[0]->is_same(*tensors[1])) writes_.set(here.path(), *tensors[0], *tensors[1]);
  }

 private:
  Writes& writes_;
};

// Whether autograd ignores the tensor: without recording, its dispatch can be skipped.
bool unknown_to_autograd(const at::Tensor& tensor) {
  return fast::plain(tensor) && tensor.unsafeGetTensorImpl()->autograd_meta() == nullptr;
}

}  // namespace

// One call for a dictionary.
class OperatorCall {
 public:
  OperatorCall(const Operator& op, const CallOptions& options, const TensorDict& td)
      : op_(op), options_(options), td_(td) {
    policy_.what = operators::name_of(*op.handle_).name.c_str();
  }

  void write() {
    check(/*in_place=*/true);
    InPlace target(td_.node());
    policy_.ignore_extra = true;
    Writes elements(Writes::Hold::owns);
    if (has_lazy(target.node())) {
      collect_stacked(target.node(), elements);
    } else {
      collect(beside(target.node()));
    }
    rehearse();
    separate();
    bool all_cuda = !rows_.empty();
    for (const Row& row : rows_) all_cuda = all_cuda && row[0].is_cuda();
    if (!wants_fused(all_cuda) || !call_fused()) call_rows();
    elements.run();
    target.commit();
  }

  std::vector<TensorDict> make() {
    check(/*in_place=*/false);
    // The operator's dimensions count from the dictionary, not from a lazy stack's elements: read it first.
    bool all_cuda = true;
    visit_values(*td_.node(), [&](const Value& value) {
      all_cuda = all_cuda && (value.is_node() || value.tensor().is_cuda());
    });
    const NodePtr root = is_plain(*td_.node()) ? td_.node() : all_dense(td_.node());
    std::vector<TensorDict> made;
    if (wants_fused(all_cuda)) {
      collect(beside(root));
      if (call_fused())
        made.push_back(finish(zip(beside(root), FillOp(std::move(fused_), options_), policy_)));
    }
    if (made.empty()) {
      further_.resize(op_.results() - 1);
      made.push_back(finish(zip(beside(root), LeafOp(*this), policy_)));
      for (std::vector<at::Tensor>& tensors : further_)
        made.push_back(finish(zip(beside(root), FillOp(std::move(tensors), options_), policy_)));
    }
    return made;
  }

 private:
  using Row = c10::SmallVector<at::Tensor, 2>;  // a leaf, and those of the other dictionaries

  void check(bool in_place) const {
    if (op_.in_place() != in_place) {
      fail(Code::invalid_argument, policy_.what,
           in_place ? " does not write into its tensor: call it with a result"
                    : " writes into its tensor: call it in place");
    }
    if (!is_dict(*td_.node())) {
      fail(Code::unsupported, policy_.what, ": a non-tensor value has no leaves");
    }
  }

  c10::SmallVector<NodePtr, 2> beside(const NodePtr& root) const {
    c10::SmallVector<NodePtr, 2> roots{root};
    roots.append(op_.dicts_.begin(), op_.dicts_.end());
    return roots;
  }

  void collect(c10::ArrayRef<NodePtr> roots) {
    visit_zip<Take::elements>(
        roots, [&](const Here& here, Tensors tensors) { add(here, tensors); }, policy_);
  }

  void add(const Here& here, Tensors tensors) {
    if (op_.in_place()) Writes().compute(here.path(), *tensors[0], recorded_among(tensors));
    Row row;
    for (const at::Tensor* tensor : tensors) row.push_back(*tensor);
    rows_.push_back(std::move(row));
  }

  // The operator's dimensions count from the dictionary, not from a lazy stack's elements: what these have alike is
  // read, and written back after the call. It is called for every other tensor of an element, or for all if another
  // dictionary cannot be read beside them.
  void collect_stacked(const NodePtr& root, Writes& elements) {
    const NodePtr read = even_form(root);
    const auto is_read = [&](const Here& here) {
      const Value* found = find_stored(read, here.path());
      return found != nullptr && !found->is_node();
    };
    bool all = true, dense = true;
    const auto look = [&](const Here& here, Tensors) { all = all && is_read(here); };
    visit_zip<Take::elements>(root, look, policy_);
    c10::SmallVector<NodePtr, 2> roots = beside(read);
    try {
      for (std::size_t k = 1; k < roots.size() && !all; ++k) roots[k] = without_lazy(roots[k]);
    } catch (const Error&) {
      dense = false;
    }
    if (dense) {
      collect(roots);
      WriteBack back(elements);
      WalkRules rules = all_entries();
      rules.missing = WalkRules::Missing::intersect;
      walk_pair(root, read, back, rules);
    }
    if (all) return;
    visit_zip<Take::elements>(
        beside(root),
        [&](const Here& here, Tensors tensors) {
          if (!dense || !is_read(here)) add(here, tensors);
        },
        policy_);
  }

  // An argument whose history the leaf would inherit; may be undefined.
  at::Tensor recorded_among(Tensors tensors) const {
    for (const at::Tensor* tensor : tensors.slice(1)) {
      if (tensor->requires_grad()) return *tensor;
    }
    for (const Operator::Slot& slot : slots_) {
      if (slot.value.isTensor() && slot.value.toTensor().requires_grad())
        return slot.value.toTensor();
    }
    return {};
  }

  // Copies arguments that share memory with a leaf, so that writes do not change them.
  void separate() {
    MemoryRanges targets;
    for (const Row& row : rows_) targets.add(range_of(row[0]));
    targets.sort();
    for (Row& row : rows_) {
      for (std::size_t k = 1; k < row.size(); ++k) {
        if (targets.meet(range_of(row[k]))) row[k] = row[k].clone();
      }
    }
    own_slots_ = op_.slots_;
    for (Operator::Slot& slot : own_slots_) {
      if (slot.source == Operator::constant && slot.value.isTensor() &&
          slot.value.toTensor().defined() && targets.meet(range_of(slot.value.toTensor())))
        slot.value = slot.value.toTensor().clone();
    }
    slots_ = own_slots_;
  }

  // Some values fail only in the call, such as a zero divisor of integers: these leaves
  // come first and are restored after a failure. So are all leaves if the operator draws random numbers.
  void call_rows() {
    const auto kept = [&](const Row& row) {
      return op_.draws_ || c10::isIntegralType(row[0].scalar_type(), /*includeBool=*/true);
    };
    std::stable_partition(rows_.begin(), rows_.end(), kept);
    std::vector<at::Tensor> before;
    c10::SmallVector<const at::Tensor*, 3> tensors;
    try {
      for (const Row& row : rows_) {
        if (kept(row)) before.push_back(row[0].detach().clone());
        tensors.clear();
        for (const at::Tensor& tensor : row) tensors.push_back(&tensor);
        call_one(tensors);
      }
    } catch (...) {
      const at::NoGradGuard no_grad;
      for (std::size_t i = before.size(); i-- > 0;) rows_[i][0].copy_(before[i]);
      throw;
    }
  }

  // Calls the operator for each leaf; keeps all results but the first for later.
  class LeafOp final : public ResultOp {
   public:
    explicit LeafOp(OperatorCall& call) : ResultOp(call.options_), call_(call) {}
    at::Tensor leaf(const Here& here, Tensors tensors) const {
      call_.call_one(tensors);
      for (const c10::IValue& value : call_.stack_) {
        if (value.toTensor().defined()) continue;
        fail(Code::unsupported, call_.policy_.what, " returns no tensor for ",
             show_path(here.path()));
      }
      for (std::size_t i = 0; i < call_.further_.size(); ++i)
        call_.further_[i].push_back(std::move(call_.stack_[i + 1]).toTensor());
      return std::move(call_.stack_[0]).toTensor();
    }

   private:
    OperatorCall& call_;
  };

  TensorDict finish(NodePtr node) const {
    const TensorDict td(std::move(node));
    if (options_.batch) forget_names(td);
    if (td.device()) {
      bool moved = false;
      visit_values(*td.node(), [&](const Value& value) {
        moved = moved || (!value.is_node() && value.tensor().device() != *td.device());
      });
      if (moved) TensorDict(td).clear_device();
    }
    return td;
  }

  static void forget_names(const TensorDict& td) {
    td.node()->set_names({});
    visit_values(*td.node(), [](const Value& value) {
      if (value.is_node()) value.node()->set_names({});
    });
  }

  // Pushes the arguments of a call.
  template <class Tensor>
  void fill_stack(c10::ArrayRef<Tensor> row, bool meta) {
    stack_.clear();
    for (const Operator::Slot& slot : slots_) {
      if (slot.source == Operator::constant) {
        stack_.push_back(meta ? as_meta(slot.value) : slot.value);
      } else {
        const std::size_t i =
            slot.source == Operator::leaf_at ? 0 : static_cast<std::size_t>(slot.source) + 1;
        stack_.push_back(meta ? as_meta(tensor_of(row[i])) : c10::IValue(tensor_of(row[i])));
      }
    }
  }

  static const at::Tensor& tensor_of(const at::Tensor& tensor) { return tensor; }
  static const at::Tensor& tensor_of(const at::Tensor* tensor) { return *tensor; }

  void call_one(Tensors tensors) {
    fill_stack(tensors, false);
    try {
      if (at_rest_ && std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor* tensor) {
            return unknown_to_autograd(*tensor);
          })) {
        const at::AutoDispatchBelowAutograd below;
        call_stack();
      } else {
        call_stack();
      }
    } catch (c10::Error& error) {
      error.add_context("called for " + show_leaf(*td_.node(), *tensors[0]));
      throw;
    }
  }

  void call_stack() {
    if (op_.division_ == math::Division::none) return operators::call(*op_.handle_, stack_);
    const math::SafeDivision safe(op_.division_, op_.in_place_, stack_);
    operators::call(*op_.handle_, stack_);
    safe.finish(stack_);
  }

  // Before the first write, tries the operator on each sort of leaf: on meta tensors, which check shapes, or
  // on copies if that is not possible or kernels differ. With a single kernel the first leaf reports it.
  void rehearse() {
    if (rows_.size() < 2) return;
    const at::NoGradGuard no_grad;
    std::set<Sort> sorts, kernels;
    for (const Row& row : rows_) kernels.insert(kernel_of(row));
    if (kernels.size() == 1 || op_.draws_) kernels.clear();
    for (const Row& row : rows_) {
      if (!sorts.insert(sort_of(row)).second) continue;
      const bool new_kernel = kernels.erase(kernel_of(row)) != 0;
      // Without memory some divisions take shapes that they refuse later.
      const bool divides = op_.division_ != math::Division::none;
      if (new_kernel || divides || !works_without_memory(row)) try_on_copy(row);
    }
  }

  bool works_without_memory(const Row& row) {
    try {
      fill_stack(c10::ArrayRef<at::Tensor>(row), true);
      operators::call(*op_.handle_, stack_);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  void try_on_copy(const Row& row) {
    Row copy = row;
    copy[0] = row[0].clone();
    fill_stack(c10::ArrayRef<at::Tensor>(copy), false);
    try {
      call_stack();
    } catch (c10::Error& error) {
      error.add_context("called for " + show_leaf(*td_.node(), row[0]));
      throw;
    }
  }

  bool wants_fused(bool all_cuda) const {
    if (options_.fuse == Fuse::never || c10::GradMode::is_enabled()) return false;
    return options_.fuse == Fuse::always || all_cuda;
  }

  // Returns whether libtorch has handled all leaves in one call.
  bool call_fused() {
    const bool done = !rows_.empty() && try_fused();
    if (!done && options_.fuse == Fuse::always)
      fail(Code::unsupported, policy_.what, " is not available for all leaves at once");
    return done;
  }

  bool try_fused() {
    const Fused* form = fused_form(operators::name_of(*op_.handle_));
    if (form == nullptr) return false;
    const auto handle = operators::find(form->name, form->overload);
    if (!handle || operators::arguments_of(*handle) != form->carried) return false;
    stack_.clear();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Operator::Slot& slot = slots_[i];
      const bool tensors = slot.source != Operator::constant || slot.value.isTensor();
      if (i >= form->carried) {
        if (tensors || !is_one(slot.value)) return false;
        continue;
      }
      if (!tensors) {
        stack_.push_back(slot.value);
        continue;
      }
      c10::List<at::Tensor> list;
      list.reserve(rows_.size());
      for (const Row& row : rows_) {
        const at::Tensor& tensor = slot.source == Operator::constant ? slot.value.toTensor()
                                   : slot.source == Operator::leaf_at
                                       ? row[0]
                                       : row[static_cast<std::size_t>(slot.source) + 1];
        if (tensor.sizes() != row[0].sizes() || tensor.device() != row[0].device()) return false;
        list.push_back(tensor);
      }
      stack_.emplace_back(std::move(list));
    }
    operators::call(*handle, stack_);
    if (!op_.in_place()) fused_ = stack_.at(0).toTensorVector();
    return true;
  }

  const Operator& op_;
  c10::ArrayRef<Operator::Slot> slots_ = op_.slots_;
  std::vector<Operator::Slot> own_slots_;
  const CallOptions& options_;
  const TensorDict& td_;
  WalkRules policy_;
  std::vector<Row> rows_;
  std::vector<at::Tensor> fused_;                 // the result of a fused call
  std::vector<std::vector<at::Tensor>> further_;  // results after the first, one for each leaf
  const bool at_rest_ = fast::can_skip_dispatcher();
  std::vector<c10::IValue> stack_;
};

std::vector<TensorDict> Operator::call(const TensorDict& td, const CallOptions& options) const {
  return OperatorCall(*this, options, td).make();
}

void Operator::call_inplace(const TensorDict& td, const CallOptions& options) const {
  OperatorCall(*this, options, td).write();
}

TensorDict call(const TensorDict& td, std::string_view name, c10::ArrayRef<CallArgument> arguments,
                const CallOptions& options) {
  const Operator op(name, arguments);
  if (op.results() != 1) {
    fail(Code::unsupported, name, " returns ", op.results(), " tensors instead of one");
  }
  return op.call(td, options)[0];
}

void call_inplace(const TensorDict& td, std::string_view name,
                  c10::ArrayRef<CallArgument> arguments, const CallOptions& options) {
  Operator(name, arguments).call_inplace(td, options);
}

}  // namespace td
