// guard.h: the wall between exceptions and C. Every function that can fail is one guard().
#pragma once

#include "tensordict/td_base.h"

#include <c10/core/GradMode.h>

#include <utility>

namespace capi {

// Turns the exception in flight into a status and the text of this thread. guard.cpp holds the only
// typed catches of the library.
td_status translate_current_exception(const char* function) noexcept;

// Thrown when a callback fails: its status travels on unchanged where it may.
struct CallbackFailure {
  td_status status;
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

// Sets libtorch's grad mode to what the caller asked of this library, and puts it back.
class GradScope {
 public:
  GradScope() : before_(c10::GradMode::is_enabled()) {
    if (before_ != grad_wanted) c10::GradMode::set_enabled(grad_wanted);
  }
  ~GradScope() {
    if (before_ != grad_wanted) c10::GradMode::set_enabled(before_);
  }
  GradScope(const GradScope&) = delete;
  GradScope& operator=(const GradScope&) = delete;

 private:
  bool before_;
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
    const GradScope grad;
    std::forward<Body>(body)();
    return TD_OK;
  } catch (...) {
    return translate_current_exception(function);
  }
}

}  // namespace capi
