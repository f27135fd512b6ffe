// tensordict/td_grad.h
#include "choices.h"
#include "core/math/gradient.h"
#include "give.h"
#include "guard.h"

td_status td_detach(const td_tensordict* td, td_detach_kind kind, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::detach(in(td),
                      capi::choice_in<td::Detach>(kind, TD_DETACH_HISTORY, TD_DETACH_DATA, "kind"));
  });
}

td_status td_detach_inplace(td_tensordict* td) noexcept {
  return guard(__func__, [&] { td::detach_inplace(in(td)); });
}

td_status td_set_requires_grad(td_tensordict* td, int32_t required) noexcept {
  return guard(__func__, [&] { td::set_requires_grad(in(td), required != 0); });
}

td_status td_grad(const td_tensordict* td, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    if (const auto gradients = td::gradients(in(td))) out.put(*gradients);
  });
}

td_status td_set_grad(td_tensordict* td, const td_tensordict* source) noexcept {
  return guard(__func__, [&] { td::set_gradients(in(td), OptionalDict(source).get()); });
}

td_status td_zero_grad(td_tensordict* td, td_zero_grad_flags flags) noexcept {
  return guard(__func__,
               [&] { td::zero_gradients(in(td), !capi::flag_in(flags, TD_ZERO_GRAD_KEEP)); });
}

td_status td_clip_grad_norm(td_tensordict* td, double max_norm, double* norm) noexcept {
  return guard(__func__, [&] {
    const double before = td::clip_gradients(in(td), max_norm);
    if (norm != nullptr) *norm = before;
  });
}

td_status td_backward(const td_tensordict* td, const td_tensordict* gradient,
                      const td_tensordict* inputs, const td_backward_options* options) noexcept {
  return guard(__func__, [&] {
    const td_backward_options given =
        capi::options_in(options, td_backward_options TD_BACKWARD_OPTIONS_INIT);
    capi::require_zero(given.reserved);
    td::backward(in(td), OptionalDict(gradient).get(), OptionalDict(inputs).get(),
                 {given.retain_graph != 0, given.create_graph != 0});
  });
}
