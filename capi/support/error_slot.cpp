#include "error_slot.h"

#include <algorithm>
#include <cstring>
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
// It may be written after other thread-locals and statics are gone, also after dlclose.
static_assert(std::is_trivially_destructible_v<ErrorSlot>);

thread_local ErrorSlot slot{TD_OK, "", false, {0}};

struct LogTarget {
  td_log_fn callback = nullptr;
  void* user = nullptr;
  td_release_fn release = nullptr;
};

struct LogState {
  std::mutex mutex;
  LogTarget target;
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
  if (n != 0) std::memmove(slot.message, message.data(), n);  // the text may be the slot's own
  slot.message[n] = '\0';
  // One line: a message of libtorch may hold several.
  std::replace(slot.message, slot.message + n, '\n', ' ');
}

bool error_was_left(td_status code) noexcept { return slot.fresh && slot.code == code; }

void expect_error() noexcept { slot.fresh = false; }

void log(td_log_level level, const char* message) noexcept {
  LogTarget target;
  try {
    LogState& state = log_state();
    const std::lock_guard lock(state.mutex);
    target = state.target;
  } catch (...) {
    return;
  }
  if (target.callback != nullptr) target.callback(target.user, level, message);
}

}  // namespace capi

td_status td_last_error_code(void) noexcept { return capi::slot.code; }

const char* td_last_error_function(void) noexcept { return capi::slot.function; }

const char* td_last_error_message(void) noexcept { return capi::slot.message; }

void td_set_error(td_status code, const char* message) noexcept {
  capi::store_error(code, "callback", message == nullptr ? std::string_view() : message);
}

void td_set_log(td_log_fn callback, void* user, td_release_fn release) noexcept {
  capi::LogTarget before;
  try {
    capi::LogState& state = capi::log_state();
    const std::lock_guard lock(state.mutex);
    before = state.target;
    state.target = {callback, user, release};
  } catch (...) {
    return;
  }
  if (before.release != nullptr) before.release(before.user);
}
