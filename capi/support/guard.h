// guard.h: the wall between exceptions and C. Every function that can fail is one guard().
#pragma once

#include "core/base/torch_compat.h"
#include "tensordict/td_base.h"

#include <c10/core/GradMode.h>

#include <optional>
#include <string>
#include <utility>

namespace capi {

// Turns the exception in flight into a status and the text of this thread. guard.cpp holds the only
// typed catches of the library.
td_status translate_current_exception(const char* function) noexcept;

// Thrown when a callback fails: its status travels on unchanged where it may. The text that it left is
// that of the thread on which it ran, which need not be the one that is told.
struct CallbackFailure {
  explicit CallbackFailure(td_status status);
  td_status status;
  std::string text;
};

// Turns an exception that a callback let out into Code::callback with its text, and throws that.
[[noreturn]] void rethrow_foreign();

template <class Call>
td_status call_foreign(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    rethrow_foreign();
  }
}

// td_set_grad_enabled(). Constant at birth, so that reading it needs no wrapper.
#if defined(__GNUC__)
extern __thread bool grad_wanted;
#else
extern thread_local bool grad_wanted;
#endif

// What a call asks of libtorch's state of this thread: the grad mode that the caller asked of this
// library, and warnings that go to the log. All is put back at the end.
class CallScope {
 public:
  CallScope();
  ~CallScope() {
    // Not asked of grad_wanted: a callback may have changed it.
    if (switched_) c10::GradMode::set_enabled(grad_before_);
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  bool grad_before_;
  bool switched_;
  td::compat::WarningGuard warnings_;
};

// For calls that run no operation of libtorch.
template <class Body>
td_status guard_plain(const char* function, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return TD_OK;
  } catch (...) {
    return translate_current_exception(function);
  }
}

// For calls that may.
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

// For calls that seldom run an operation of libtorch.
class TorchScope {
 public:
  explicit TorchScope(bool wanted) {
    if (wanted) scope_.emplace();
  }

 private:
  std::optional<CallScope> scope_;
};

}  // namespace capi
