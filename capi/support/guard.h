// guard.h: turns exceptions into statuses. The body of every function that can fail is one guard().
#pragma once

#include "core/tensor/torch_compat.h"
#include "tensordict/td_base.h"

#include <c10/core/AutogradState.h>

#include <optional>
#include <string>
#include <utility>

namespace capi {

// Turns the current exception into a status and the error text of this thread.
td_status translate_current_exception(const char* function) noexcept;

// Thrown if a callback fails. `text` is copied from the thread on which the callback ran; the failing call
// may be on another thread.
struct CallbackFailure {
  explicit CallbackFailure(td_status status);
  td_status status;
  std::string text;
};

// Call in a catch block: throws Code::callback with the text of the exception that left a callback.
[[noreturn]] void rethrow_foreign();

template <class Call>
td_status call_foreign(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    rethrow_foreign();
  }
}

// Set by td_set_grad_enabled(). __thread, because reading a thread_local may call a wrapper function.
#if defined(__GNUC__)
extern __thread bool grad_wanted;
#else
extern thread_local bool grad_wanted;
#endif

// Sets the state of libtorch for one call on this thread: the grad mode of td_set_grad_enabled(), and the
// log as the target of warnings. Restores it at the end.
class CallScope {
 public:
  CallScope();
  ~CallScope() {
    // Does not read grad_wanted, which a callback may have changed.
    if (switched_) grad_.set_grad_mode(grad_before_);
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  c10::AutogradState& grad_;  // of this thread: finding it takes as long as a small call
  bool grad_before_;
  bool switched_;
  td::compat::WarningGuard warnings_;
};

// For calls that run no operator of libtorch.
template <class Body>
td_status guard_plain(const char* function, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return TD_OK;
  } catch (...) {
    return translate_current_exception(function);
  }
}

// For calls that may run operators of libtorch.
template <class Body>
td_status guard(const char* function, Body&& body) noexcept {
  try {
    const CallScope scope;
    std::forward<Body>(body)();
    return TD_OK;
  } catch (...) {
    return translate_current_exception(function);
  }
}

// For calls that seldom run an operator of libtorch.
class TorchScope {
 public:
  explicit TorchScope(bool wanted) {
    if (wanted) scope_.emplace();
  }

 private:
  std::optional<CallScope> scope_;
};

}  // namespace capi

using capi::guard;
using capi::guard_plain;
