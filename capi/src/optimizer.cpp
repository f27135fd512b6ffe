// tensordict/td_optimizer.h
#include "choices.h"
#include "give.h"
#include "guard.h"
#include "tensordict/td_optimizer.h"

#include "core/nn/optimizer.h"

namespace capi {

template <>
struct Traits<td_optimizer> : OwnedTraits<td::Optimizer, Kind::optimizer> {
  static constexpr const char* name = "optimiser";
};

}  // namespace capi

namespace {

td::OptimizerOptions options_in(td_optimizer_kind kind, const td_optimizer_options* options) {
  td::OptimizerOptions result(
      capi::choice_in<td::OptimizerKind>(kind, TD_OPTIMIZER_SGD, TD_OPTIMIZER_ADAMW, "kind"));
  if (options == nullptr) return result;
  const td_optimizer_options given =
      capi::options_in(options, td_optimizer_options TD_OPTIMIZER_OPTIONS_INIT);
  check_flags(given.flags, TD_OPTIMIZER_NESTEROV | TD_OPTIMIZER_AMSGRAD);
  result.lr = given.lr;
  result.weight_decay = given.weight_decay;
  result.momentum = given.momentum;
  result.dampening = given.dampening;
  result.nesterov = (given.flags & TD_OPTIMIZER_NESTEROV) != 0;
  result.beta1 = given.beta1;
  result.beta2 = given.beta2;
  result.eps = given.eps;
  result.amsgrad = (given.flags & TD_OPTIMIZER_AMSGRAD) != 0;
  return result;
}

}  // namespace

td_status td_optimizer_create(const td_tensordict* params, td_optimizer_kind kind,
                              const td_optimizer_options* options, td_optimizer** result) noexcept {
  return give(__func__, result, [&] {
    return std::make_unique<td::Optimizer>(*in(params), options_in(kind, options));
  });
}

void td_optimizer_free(td_optimizer* optimizer) noexcept { capi::free_handle(optimizer); }

td_status td_optimizer_step(td_optimizer* optimizer) noexcept {
  return guard(__func__, [&] { in(optimizer)->step(); });
}

td_status td_optimizer_zero_grad(td_optimizer* optimizer, td_zero_grad_flags flags) noexcept {
  return guard(__func__,
               [&] { in(optimizer)->zero_grad(!capi::flag_in(flags, TD_ZERO_GRAD_KEEP)); });
}

td_status td_optimizer_lr(const td_optimizer* optimizer, double* result) noexcept {
  return guard_plain(__func__, [&] { *not_null(result, "result") = in(optimizer)->lr(); });
}

td_status td_optimizer_set_lr(td_optimizer* optimizer, double lr) noexcept {
  return guard_plain(__func__, [&] { in(optimizer)->set_lr(lr); });
}

td_status td_optimizer_state(const td_optimizer* optimizer, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(optimizer)->state(); });
}

td_status td_optimizer_load_state(td_optimizer* optimizer, const td_tensordict* state) noexcept {
  return guard(__func__, [&] { in(optimizer)->load_state(*in(state)); });
}
