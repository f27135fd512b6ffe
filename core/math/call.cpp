// Calls an operator of libtorch for each leaf, or once for all leaves where libtorch can.
#include "core/math/call.h"

#include "core/math/call_stack.h"
#include "core/math/operators.h"
#include "core/math/together.h"
#include "core/tensor/memory_ranges.h"
#include "core/tensor/writes.h"
#include "core/tree/dense_copy.h"
#include "core/tree/engine.h"
#include "core/tree/paths.h"
#include "core/tree/walk.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

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
  at::Tensor leaf(const Here&, Tensors) const override { return tensors_[next_++]; }

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

}  // namespace

// One call for a dictionary.
class OperatorCall {
 public:
  OperatorCall(const Operator& op, const CallOptions& options, const TensorDict& td)
      : op_(op), options_(options), td_(td), stack_(op, td) {
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
    stack_.rehearse(rows_);
    stack_.separate(rows_);
    checks_.require_possible();
    elements.prepare();
    bool all_cuda = !rows_.empty();
    for (const CallRow& row : rows_) all_cuda = all_cuda && row[0].is_cuda();
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
      compute_together(root);
      further_.resize(op_.results() - 1);
      made.push_back(finish(zip(beside(root), LeafOp(*this), policy_)));
      for (std::vector<at::Tensor>& tensors : further_)
        made.push_back(finish(zip(beside(root), FillOp(std::move(tensors), options_), policy_)));
    }
    return made;
  }

 private:
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
    visit_zip(
        roots, Take::elements, [&](const Here& here, Tensors tensors) { add(here, tensors); },
        policy_);
  }

  void add(const Here& here, Tensors tensors) {
    if (op_.in_place()) checks_.compute(here.path(), *tensors[0], stack_.recorded_among(tensors));
    CallRow row;
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
    visit_zip(root, Take::elements, look, policy_);
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
    visit_zip(
        beside(root), Take::elements,
        [&](const Here& here, Tensors tensors) {
          if (!dense || !is_read(here)) add(here, tensors);
        },
        policy_);
  }

  // Small leaves in one call.
  void compute_together(const NodePtr& root) {
    if (!stack_.may_go_together()) return;
    try {
      visit_zip(
          beside(root), Take::elements,
          [&](const Here&, Tensors tensors) { add_together(tensors); }, policy_);
    } catch (const Error&) {
      together_ = math::Together();  // the walk that asks for the results says it
      return;
    }
    call_together();
  }

  // Nothing if a write has to see what the one before has written.
  void write_together() {
    if (!stack_.may_go_together() || rows_.size() < Bundle::few) return;
    MemoryRanges targets;
    for (const CallRow& row : rows_) targets.add(range_of(row[0]));
    targets.sort();
    if (targets.meet_each_other()) return;
    for (const CallRow& row : rows_) add_together(pointers_to(row));
    call_together();
  }

  static c10::SmallVector<const at::Tensor*, 3> pointers_to(const CallRow& row) {
    c10::SmallVector<const at::Tensor*, 3> result;
    for (const at::Tensor& tensor : row) result.push_back(&tensor);
    return result;
  }

  void add_together(Tensors tensors) {
    const at::Tensor none;
    together_.add(*tensors[0], tensors.size() > 1 ? *tensors[1] : none,
                  tensors.size() > 2 ? *tensors[2] : none);
  }

  void call_together() {
    together_.compute([&](const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
      const at::Tensor* const row[] = {&a, &b, &c};
      stack_.call(Tensors(row, 1 + op_.dicts_.size()));
      return stack_.results()[0].toTensor();
    });
  }

  // Some values fail only in the call, such as a zero divisor of integers: these leaves
  // come first and are restored after a failure. So are all leaves if the operator draws random numbers.
  void call_rows() {
    const auto kept = [&](const CallRow& row) {
      return op_.draws_ || c10::isIntegralType(row[0].scalar_type(), /*includeBool=*/true);
    };
    std::stable_partition(rows_.begin(), rows_.end(), kept);
    write_together();
    std::vector<std::pair<std::size_t, at::Tensor>> before;
    try {
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (together_.has(i)) continue;
        const CallRow& row = rows_[i];
        if (kept(row)) before.emplace_back(i, row[0].detach().clone());
        stack_.call(pointers_to(row));
      }
    } catch (...) {
      const at::NoGradGuard no_grad;
      for (std::size_t i = before.size(); i-- > 0;)
        rows_[before[i].first][0].copy_(before[i].second);
      throw;
    }
    together_.write();
  }

  // Calls the operator for each leaf; keeps all results but the first for later.
  class LeafOp final : public ResultOp {
   public:
    explicit LeafOp(OperatorCall& call) : ResultOp(call.options_), call_(call) {}
    at::Tensor leaf(const Here& here, Tensors tensors) const override {
      if (at::Tensor made = call_.together_.take(*tensors[0]); made.defined()) return made;
      call_.stack_.call(tensors);
      std::vector<c10::IValue>& results = call_.stack_.results();
      for (const c10::IValue& value : results) {
        if (value.toTensor().defined()) continue;
        fail(Code::unsupported, call_.policy_.what, " returns no tensor for ",
             show_path(here.path()));
      }
      for (std::size_t i = 0; i < call_.further_.size(); ++i)
        call_.further_[i].push_back(std::move(results[i + 1]).toTensor());
      return std::move(results[0]).toTensor();
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

  bool wants_fused(bool all_cuda) const {
    if (options_.fuse == Fuse::never || c10::GradMode::is_enabled()) return false;
    return options_.fuse == Fuse::always || all_cuda;
  }

  // Returns whether libtorch has handled all leaves in one call.
  bool call_fused() {
    std::optional<std::vector<at::Tensor>> made;
    if (!rows_.empty()) made = stack_.call_fused(rows_);
    if (made) fused_ = std::move(*made);
    if (!made && options_.fuse == Fuse::always)
      fail(Code::unsupported, policy_.what, " is not available for all leaves at once");
    return made.has_value();
  }

  const Operator& op_;
  const CallOptions& options_;
  const TensorDict& td_;
  WalkRules policy_;
  std::vector<CallRow> rows_;
  Writes checks_{Writes::Hold::owns};             // the leaves that the operator writes
  std::vector<at::Tensor> fused_;                 // the result of a fused call
  std::vector<std::vector<at::Tensor>> further_;  // results after the first, one for each leaf
  CallStack stack_;
  math::Together together_;
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
