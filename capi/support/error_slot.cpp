#include "error_slot.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>

namespace capi {

namespace {

struct ErrorSlot {
  td_status code;
  const char* function;
  bool fresh;  // since expect_error()
  char message[1024];
};
// A call may write it after other thread-locals and statics were destroyed, and after dlclose.
static_assert(std::is_trivially_destructible_v<ErrorSlot>);

thread_local ErrorSlot slot{TD_OK, "", false, {0}};

// Every running call of the log function holds a reference, so that `user` outlives it.
class LogTarget {
 public:
  LogTarget(td_log_fn callback, void* user, td_release_fn release) noexcept
      : callback_(callback), user_(user), release_(release) {}
  LogTarget(const LogTarget&) = delete;
  LogTarget& operator=(const LogTarget&) = delete;
  ~LogTarget() {
    if (release_ != nullptr) release_(user_);
  }

  void write(td_log_level level, const char* message) const {
    if (callback_ != nullptr) callback_(user_, level, message);
  }

 private:
  td_log_fn callback_;
  void* user_;
  td_release_fn release_;
};

struct LogState {
  std::mutex mutex;
  std::shared_ptr<const LogTarget> target;
};
LogState& log_state() {
  static LogState* const state = new LogState;  // never destroyed
  return *state;
}

}  // namespace

void store_error(td_status code, const char* function, std::string_view message) noexcept {
  slot.code = code;
  slot.function = function;
  slot.fresh = true;
  std::size_t n = std::min(message.size(), sizeof slot.message - 1);
  if (n < message.size()) {
    while (n > 0 && (static_cast<unsigned char>(message[n]) & 0xC0) == 0x80) --n;
  }
  if (n != 0) std::memmove(slot.message, message.data(), n);  // the text may be in the slot
  slot.message[n] = '\0';
  // Messages of libtorch may have several lines; ours have one.
  std::replace(slot.message, slot.message + n, '\n', ' ');
}

bool error_was_left(td_status code) noexcept { return slot.fresh && slot.code == code; }

void expect_error() noexcept { slot.fresh = false; }

void log(td_log_level level, const char* message) noexcept {
  std::shared_ptr<const LogTarget> target;
  try {
    LogState& state = log_state();
    const std::lock_guard lock(state.mutex);
    target = state.target;
  } catch (...) {
    return;
  }
  if (target) target->write(level, message);
}

}  // namespace capi

td_status td_last_error_code(void) noexcept { return capi::slot.code; }

const char* td_last_error_function(void) noexcept { return capi::slot.function; }

const char* td_last_error_message(void) noexcept { return capi::slot.message; }

void td_set_error(td_status code, const char* message) noexcept {
  capi::store_error(code, "callback", message == nullptr ? std::string_view() : message);
}

void td_set_log(td_log_fn callback, void* user, td_release_fn release) noexcept {
  std::shared_ptr<const capi::LogTarget> target;
  try {
    target = std::make_shared<const capi::LogTarget>(callback, user, release);
  } catch (...) {
    if (release != nullptr) release(user);
    return;
  }
  capi::LogState& state = capi::log_state();
  const std::lock_guard lock(state.mutex);
  state.target.swap(target);
  // The former target is released after the lock; if it is being called, at the end of that call.
}
