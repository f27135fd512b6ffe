// Calling an operator of libtorch for each leaf, or for all leaves at once where libtorch can.
#include "td/call.h"

#include "td/assign.h"
#include "td/zip.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>

#include <map>
#include <set>

namespace td {

namespace {

// Operators for all leaves at once, by the name of the one for a single leaf. The first `carried`
// arguments are taken over, tensors as lists; the others must be 1, as the list form has it.
struct Fused {
  const char *name, *overload;
  std::size_t carried;
};

const Fused* fused_form(const c10::OperatorName& name) {
  using Table = std::map<std::string, Fused>;
  static const Table* const table = [] {
    auto* made = new Table;  // never destroyed: nothing runs at exit
    const auto add = [&](const std::string& from, std::string to, const char* overload,
                         std::size_t carried) {
      static auto* const names = new std::set<std::string>;
      const char* kept = names->insert("aten::_foreach_" + std::move(to)).first->c_str();
      made->emplace("aten::" + from, Fused{kept, overload, carried});
    };
    for (const char* bare :
         {"abs",   "acos", "asin",  "atan",       "ceil",  "cos",     "cosh", "erf",
          "erfc",  "exp",  "expm1", "floor",      "frac",  "lgamma",  "log",  "log10",
          "log1p", "log2", "neg",   "reciprocal", "round", "sigmoid", "sign", "sin",
          "sinh",  "sqrt", "tan",   "tanh",       "trunc"}) {
      for (const char* end : {"", "_"})
        add(std::string(bare) + end, std::string(bare) + end, "", 1);
    }
    for (const char* bare : {"add", "sub", "mul", "div"}) {
      const bool alpha = bare[0] == 'a' || bare[0] == 's';
      for (const char* end : {"", "_"}) {
        const std::string name = std::string(bare) + end;
        add(name + ".Scalar", name, "Scalar", 2);
        add(name + ".Tensor", name, "List", alpha ? 3 : 2);
      }
    }
    for (const char* bare : {"addcmul", "addcdiv"}) {
      for (const char* end : {"", "_"}) {
        add(std::string(bare) + end, std::string(bare) + end, "Scalar", 4);
      }
    }
    add("maximum", "maximum", "List", 2);
    add("minimum", "minimum", "List", 2);
    return made;
  }();
  const auto found =
      table->find(name.overload_name.empty() ? name.name : name.name + "." + name.overload_name);
  return found == table->end() ? nullptr : &found->second;
}

bool is_one(const c10::IValue& value) {
  return (value.isInt() && value.toInt() == 1) || (value.isDouble() && value.toDouble() == 1.0);
}

// What a call for a leaf looks at: leaves that agree in this succeed or fail alike.
void describe(const at::Tensor& tensor, std::vector<std::int64_t>& text) {
  text.push_back(static_cast<std::int64_t>(tensor.scalar_type()));
  text.push_back(static_cast<std::int64_t>(tensor.device().type()) * 256 + tensor.device().index());
  text.push_back(static_cast<std::int64_t>(tensor.layout()));
  text.push_back(tensor.dim());
  text.insert(text.end(), tensor.sizes().begin(), tensor.sizes().end());
}

c10::IValue as_meta(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return value;
  const at::Tensor& tensor = value.toTensor();
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kMeta));
}

// The tensors of the result, one after the other, in the places of a tree.
class FillOp final : public ZipOp {
 public:
  FillOp(std::vector<at::Tensor> tensors, const CallOptions& options)
      : tensors_(std::move(tensors)), options_(options) {}
  Sizes batch(SizesView before) const override {
    return options_.batch ? *options_.batch : Sizes(before.begin(), before.end());
  }
  at::Tensor leaf(const ZipPlace&, ZipTensors) const { return tensors_[next_++]; }
  Value data(const ZipPlace&, ZipNodes nodes) const override {
    NodePtr copy = nodes[0]->shallow_copy();
    if (!options_.batch || copy->batch() == SizesView(*options_.batch)) return copy;
    if (copy->kind() != NodeKind::data) {
      fail(Code::unsupported, "a stack of values that are no tensors cannot get batch size ",
           show_sizes(*options_.batch));
    }
    copy->set_batch(*options_.batch);
    return copy;
  }

 private:
  std::vector<at::Tensor> tensors_;
  const CallOptions& options_;
  mutable std::size_t next_ = 0;
};

}  // namespace

// One call for a dictionary.
class Call {
 public:
  Call(const Operator& op, const CallOptions& options, const TensorDict& td)
      : op_(op), options_(options), td_(td) {
    policy_.what = op.handle_->operator_name().name.c_str();
  }

  std::vector<TensorDict> run() {
    if (is_data(*td_.node())) {
      fail(Code::unsupported, policy_.what, ": a value that is no tensor has no leaves");
    }
    return op_.in_place() ? write() : make();
  }

 private:
  using Row = c10::SmallVector<at::Tensor, 2>;  // a leaf, and those beside it in other dictionaries

  void collect(const NodePtr& root, bool ignore_extra) {
    c10::SmallVector<NodePtr, 2> roots{root};
    roots.append(op_.dicts_.begin(), op_.dicts_.end());
    policy_.ignore_extra = ignore_extra;
    visit_zip(
        roots,
        [&](const ZipPlace&, ZipTensors tensors) {
          Row row;
          for (const at::Tensor* tensor : tensors) row.push_back(*tensor);
          rows_.push_back(std::move(row));
        },
        policy_);
  }

  std::vector<TensorDict> write() {
    InPlace target(td_.node());
    collect(target.node(), /*ignore_extra=*/true);
    for (const Row& row : rows_) {
      require_writable("a tensor", row[0], row[0]);
      if (row[0].layout() == c10::kStrided) at::assert_no_internal_overlap(row[0]);
    }
    rehearse();
    if (!call_fused()) {
      for (const Row& row : rows_) call_one(row);
    }
    target.commit();
    return {td_};
  }

  std::vector<TensorDict> make() {
    // Dimensions that an operator speaks of are those that are seen: a lazy stack is read first.
    bool lazy = td_.node()->kind() != NodeKind::dense;
    td::visit(*td_.node(), [&](const Value& value) {
      lazy = lazy || (value.is_node() && value.node()->kind() != NodeKind::dense);
    });
    const NodePtr root = lazy ? all_dense(td_.node()) : td_.node();
    collect(root, /*ignore_extra=*/false);
    results_.resize(op_.results());
    for (std::vector<at::Tensor>& one : results_) one.reserve(rows_.size());
    if (!call_fused()) {
      for (const Row& row : rows_) {
        call_one(row);
        keep(row);
      }
    }
    std::vector<TensorDict> made;
    for (std::vector<at::Tensor>& tensors : results_) {
      const bool moved =
          td_.device() && std::any_of(tensors.begin(), tensors.end(),
                                      [&](auto& one) { return one.device() != *td_.device(); });
      made.emplace_back(zip({root}, FillOp(std::move(tensors), options_), policy_));
      if (options_.batch) forget_names(made.back());
      if (moved) made.back().clear_device();
    }
    return made;
  }

  static void forget_names(const TensorDict& td) {
    td.node()->set_names({});
    td::visit(*td.node(), [](const Value& value) {
      if (value.is_node()) value.node()->set_names({});
    });
  }

  void fill_stack(const Row& row, bool meta) {
    stack_.clear();
    for (const Operator::Slot& slot : op_.slots_) {
      if (slot.source == Operator::constant) {
        stack_.push_back(meta ? as_meta(slot.value) : slot.value);
      } else {
        const std::size_t i =
            slot.source == Operator::leaf_at ? 0 : static_cast<std::size_t>(slot.source) + 1;
        stack_.push_back(meta ? as_meta(row[i]) : c10::IValue(row[i]));
      }
    }
  }

  void call_one(const Row& row) {
    fill_stack(row, false);
    try {
      op_.handle_->callBoxed(stack_);
    } catch (c10::Error& error) {
      error.add_context("called for " + show_place(row[0]));
      throw;
    }
  }

  void keep(const Row& row) {
    for (std::size_t i = 0; i < results_.size(); ++i) {
      at::Tensor result = std::move(stack_[i]).toTensor();
      if (!result.defined()) {
        fail(Code::unsupported, policy_.what, " gives no tensor for ", show_place(row[0]));
      }
      results_[i].push_back(std::move(result));
    }
  }

  std::string show_place(const at::Tensor& leaf) const {
    std::string text = "a tensor of a lazy stack";
    visit_paths(*td_.node(), [&](Path path, const Value& value) {
      if (!value.is_node() && value.tensor().is_same(leaf)) text = show_path(path);
    });
    return text;
  }

  // Before the first leaf is written, the operator is tried out: for each sort of leaf once, on tensors
  // without memory, and if it cannot do that, on a copy.
  void rehearse() {
    if (rows_.size() < 2) return;
    const at::NoGradGuard no_grad;
    std::set<std::vector<std::int64_t>> seen;
    for (const Row& row : rows_) {
      std::vector<std::int64_t> text;
      for (const at::Tensor& tensor : row) describe(tensor, text);
      if (!seen.insert(std::move(text)).second) continue;
      try {
        fill_stack(row, true);
        op_.handle_->callBoxed(stack_);
      } catch (const std::exception&) {
        Row copy = row;
        copy[0] = row[0].clone();
        fill_stack(copy, false);
        try {
          op_.handle_->callBoxed(stack_);
        } catch (c10::Error& error) {
          error.add_context("called for " + show_place(row[0]));
          throw;
        }
      }
    }
  }

  bool wants_fused() const {
    if (options_.fuse == Fuse::never || rows_.empty() || c10::GradMode::is_enabled()) return false;
    if (options_.fuse == Fuse::always) return true;
    return rows_.size() > 1 &&
           std::all_of(rows_.begin(), rows_.end(), [](const Row& row) { return row[0].is_cuda(); });
  }

  // Whether libtorch has done all leaves in one call.
  bool call_fused() {
    if (!wants_fused()) return false;
    const bool done = try_fused();
    if (!done && options_.fuse == Fuse::always)
      fail(Code::unsupported, policy_.what, " is not to be had for all leaves at once");
    return done;
  }

  bool try_fused() {
    const Fused* form = fused_form(op_.handle_->operator_name());
    if (form == nullptr) return false;
    const auto handle = c10::Dispatcher::singleton().findSchema({form->name, form->overload});
    if (!handle || handle->schema().arguments().size() != form->carried) return false;
    stack_.clear();
    for (std::size_t i = 0; i < op_.slots_.size(); ++i) {
      const Operator::Slot& slot = op_.slots_[i];
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
    handle->callBoxed(stack_);
    if (!op_.in_place()) results_[0] = stack_.at(0).toTensorVector();
    return true;
  }

  const Operator& op_;
  const CallOptions& options_;
  const TensorDict& td_;
  ZipPolicy policy_;
  std::vector<Row> rows_;
  std::vector<std::vector<at::Tensor>> results_;  // of each result, one for each leaf
  std::vector<c10::IValue> stack_;
};

std::vector<TensorDict> Operator::call(const TensorDict& td, const CallOptions& options) const {
  return Call(*this, options, td).run();
}

TensorDict call(const TensorDict& td, std::string_view name, c10::ArrayRef<CallArgument> arguments,
                const CallOptions& options) {
  const Operator op(name, arguments);
  if (op.results() != 1) {
    fail(Code::unsupported, name, " gives ", op.results(), " tensors, one is wanted");
  }
  return op.call(td, options)[0];
}

}  // namespace td
