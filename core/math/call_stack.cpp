#include "core/math/call_stack.h"

#include "core/math/call_fused.h"
#include "core/math/operators.h"
#include "core/math/together.h"
#include "core/tensor/memory_ranges.h"
#include "core/tensor/writes.h"
#include "core/tree/show_leaf.h"

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

// Whether autograd ignores the tensor: without recording, its dispatch can be skipped.
bool unknown_to_autograd(const at::Tensor& tensor) {
  return fast::plain(tensor) && tensor.unsafeGetTensorImpl()->autograd_meta() == nullptr;
}

const at::Tensor& tensor_of(const at::Tensor& tensor) { return tensor; }
const at::Tensor& tensor_of(const at::Tensor* tensor) { return *tensor; }

}  // namespace

CallStack::CallStack(const Operator& op, const TensorDict& td)
    : op_(op), td_(td), slots_(op.slots_) {}

at::Tensor CallStack::recorded_among(Tensors tensors) const {
  for (const at::Tensor* tensor : tensors.slice(1)) {
    if (tensor->requires_grad()) return *tensor;
  }
  for (const Operator::Slot& slot : slots_) {
    if (slot.value.isTensor() && slot.value.toTensor().requires_grad())
      return slot.value.toTensor();
  }
  return {};
}

void CallStack::separate(std::vector<CallRow>& rows) {
  MemoryRanges targets;
  for (const CallRow& row : rows) targets.add(range_of(row[0]));
  targets.sort();
  for (CallRow& row : rows) {
    for (std::size_t k = 1; k < row.size(); ++k) {
      if (targets.meet(range_of(row[k])) || (!at_rest_ && stands_apart(row[k])))
        row[k] = row[k].clone();
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

// Pushes the arguments of a call.
template <class Tensor>
void CallStack::fill(c10::ArrayRef<Tensor> row, bool meta) {
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

void CallStack::call(Tensors tensors) {
  fill(tensors, false);
  if (op_.in_place_ && !at_rest_) renew_history(*tensors[0]);
  try {
    if (at_rest_ && std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor* tensor) {
          return unknown_to_autograd(*tensor);
        })) {
      const at::AutoDispatchBelowAutograd below;
      run();
    } else {
      run();
    }
  } catch (c10::Error& error) {
    error.add_context("called for " + show_leaf(*td_.node(), *tensors[0]));
    throw;
  }
}

void CallStack::run() {
  if (op_.division_ == math::Division::none) return operators::call(*op_.handle_, stack_);
  const math::SafeDivision safe(op_.division_, op_.in_place_, stack_);
  operators::call(*op_.handle_, stack_);
  safe.finish(stack_);
}

void CallStack::rehearse(c10::ArrayRef<CallRow> rows) {
  if (rows.size() < 2) return;
  const at::NoGradGuard no_grad;
  std::set<Sort> sorts, kernels;
  for (const CallRow& row : rows) kernels.insert(kernel_of(row));
  if (kernels.size() == 1 || op_.draws_) kernels.clear();
  for (const CallRow& row : rows) {
    if (!sorts.insert(sort_of(row)).second) continue;
    const bool new_kernel = kernels.erase(kernel_of(row)) != 0;
    // Without memory some divisions take shapes that they refuse later.
    const bool divides = op_.division_ != math::Division::none;
    if (new_kernel || divides || !works_without_memory(row)) try_on_copy(row);
  }
}

bool CallStack::works_without_memory(const CallRow& row) {
  try {
    fill(c10::ArrayRef<at::Tensor>(row), true);
    operators::call(*op_.handle_, stack_);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void CallStack::try_on_copy(const CallRow& row) {
  CallRow copy = row;
  copy[0] = row[0].clone();
  fill(c10::ArrayRef<at::Tensor>(copy), false);
  try {
    run();
  } catch (c10::Error& error) {
    error.add_context("called for " + show_leaf(*td_.node(), row[0]));
    throw;
  }
}

bool CallStack::may_go_together() const {
  if (op_.results() != 1 || op_.dicts_.size() > 2 || op_.draws_) return false;
  const c10::OperatorName& full = operators::name_of(*op_.handle_);
  std::string_view name = full.name;
  constexpr std::string_view space = "aten::";
  if (name.substr(0, space.size()) != space) return false;
  name.remove_prefix(space.size());
  if (op_.in_place() && !name.empty() && name.back() == '_') name.remove_suffix(1);
  // Other overloads round to a given digit or to whole numbers.
  static constexpr std::string_view overloads[] = {"", "Tensor", "Scalar"};
  if (std::find(std::begin(overloads), std::end(overloads), full.overload_name) ==
      std::end(overloads))
    return false;
  const bool numbers = std::all_of(slots_.begin(), slots_.end(), [](const Operator::Slot& slot) {
    return slot.source != Operator::constant || !slot.value.isTensor() ||
           !slot.value.toTensor().defined() || slot.value.toTensor().dim() == 0;
  });
  return numbers && math::Together::may(name);
}

std::optional<std::vector<at::Tensor>> CallStack::call_fused(c10::ArrayRef<CallRow> rows) {
  const Fused* form = fused_form(operators::name_of(*op_.handle_));
  if (form == nullptr) return std::nullopt;
  const auto handle = operators::find(form->name, form->overload);
  if (!handle || operators::arguments_of(*handle) != form->carried) return std::nullopt;
  stack_.clear();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Operator::Slot& slot = slots_[i];
    const bool tensors = slot.source != Operator::constant || slot.value.isTensor();
    if (i >= form->carried) {
      if (tensors || !is_one(slot.value)) return std::nullopt;
      continue;
    }
    if (!tensors) {
      stack_.push_back(slot.value);
      continue;
    }
    c10::List<at::Tensor> list;
    list.reserve(rows.size());
    for (const CallRow& row : rows) {
      const at::Tensor& tensor = slot.source == Operator::constant ? slot.value.toTensor()
                                 : slot.source == Operator::leaf_at
                                     ? row[0]
                                     : row[static_cast<std::size_t>(slot.source) + 1];
      if (tensor.sizes() != row[0].sizes() || tensor.device() != row[0].device())
        return std::nullopt;
      list.push_back(tensor);
    }
    stack_.emplace_back(std::move(list));
  }
  operators::call(*handle, stack_);
  return op_.in_place() ? std::vector<at::Tensor>() : stack_.at(0).toTensorVector();
}

}  // namespace td
