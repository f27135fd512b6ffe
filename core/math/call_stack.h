// core/math/call_stack.h: one operator, called for one leaf after another, or once for all leaves.
#pragma once

#include "core/math/call.h"
#include "core/tensor/fast_path.h"
#include "core/tree/sink.h"

#include <optional>

namespace td {

// A leaf, and those of the other dictionaries at its path.
using CallRow = c10::SmallVector<at::Tensor, 2>;

// The arguments of a call, and its results.
class CallStack {
 public:
  // `td`: of what messages speak.
  CallStack(const Operator& op, const TensorDict& td);

  // Calls the operator for one leaf; the results are `results()` until the next call.
  void call(Tensors tensors);
  std::vector<c10::IValue>& results() noexcept { return stack_; }

  // Before the first write, tries the operator on each sort of leaf: on meta tensors, which check shapes, or
  // on copies if that is not possible or kernels differ. With a single kernel the first leaf reports it.
  void rehearse(c10::ArrayRef<CallRow> rows);

  // Copies arguments that share memory with a leaf, so that writes do not change them.
  void separate(std::vector<CallRow>& rows);

  // An argument whose history the leaf would inherit; may be undefined.
  at::Tensor recorded_among(Tensors tensors) const;

  // Whether small leaves can be computed side by side in one tensor.
  bool may_go_together() const;

  // Calls the operator once for all rows, if libtorch can: its results, none for an operator that writes.
  std::optional<std::vector<at::Tensor>> call_fused(c10::ArrayRef<CallRow> rows);

 private:
  template <class Tensor>
  void fill(c10::ArrayRef<Tensor> row, bool meta);
  void run();
  bool works_without_memory(const CallRow& row);
  void try_on_copy(const CallRow& row);

  const Operator& op_;
  const TensorDict& td_;
  c10::ArrayRef<Operator::Slot> slots_;
  std::vector<Operator::Slot> own_slots_;
  const bool at_rest_ = fast::can_skip_dispatcher();
  std::vector<c10::IValue> stack_;
};

}  // namespace td
