#include "guard.h"

#include "core/base/error.h"
#include "error_slot.h"

#include <c10/util/Exception.h>

#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string_view>

namespace capi {

#if defined(__GNUC__)
__thread bool grad_wanted = false;
#else
thread_local bool grad_wanted = false;
#endif

namespace {

bool is_library_code(td_status status) noexcept {
  return std::string_view(td_status_name(status)) != "TD_ERR_UNKNOWN";
}

td_status fail(td_status code, const char* function, const char* message) noexcept {
  store_error(code, function, message);
  return code;
}

// libtorch has no exception type for a failure of the CPU's allocator and, in older versions, for a missing
// kernel: only the text tells.
td_status torch_code(const char* text) noexcept {
  const std::string_view what(text);
  if (what.find("DefaultCPUAllocator: can't allocate memory") != std::string_view::npos ||
      what.find("DefaultCPUAllocator: not enough memory") != std::string_view::npos) {
    return TD_ERR_OUT_OF_MEMORY;
  }
  if (what.find("\" not implemented for '") != std::string_view::npos) return TD_ERR_UNSUPPORTED;
  return TD_ERR_TORCH;
}

td_status from_torch(td_status code, const char* function, const c10::Error& error) noexcept {
  log(TD_LOG_DEBUG, error.what());
  return fail(code, function, error.what_without_backtrace());
}

// Keeps the text of a callback, and its status if it is one of the library or of the range for callbacks.
td_status from_callback(const char* function, const CallbackFailure& failure) noexcept {
  const td_status status = failure.status;
  const bool passes = status <= -10000 || (status < 0 && is_library_code(status));
  const td_status code = passes ? status : TD_ERR_CALLBACK;
  store_error(code, function, failure.text);
  return code;
}

// Sends libtorch's warnings to the log of the caller.
class LogWarnings final : public td::compat::WarningSink {
 public:
  void warn(const std::string& message) override { log(TD_LOG_WARNING, message.c_str()); }
};

LogWarnings* log_warnings() {
  static LogWarnings* const handler = new LogWarnings;  // never destroyed
  return handler;
}

}  // namespace

CallbackFailure::CallbackFailure(td_status status)
    : status(status),
      text(error_was_left(status) ? td_last_error_message()
                                  : "the callback failed without a message") {}

CallScope::CallScope()
    : grad_(c10::AutogradState::get_tls_state()),
      grad_before_(grad_.get_grad_mode()),
      switched_(grad_before_ != grad_wanted),
      warnings_(log_warnings()) {
  if (switched_) grad_.set_grad_mode(grad_wanted);
}

void rethrow_foreign() {
  try {
    throw;
  } catch (const std::exception& error) {
    td::fail(td::Code::callback,
             "the callback threw an exception, which it must not: ", error.what());
  } catch (...) {
    td::fail(td::Code::callback,
             "the callback threw an exception of an unknown type, which it must not");
  }
}

td_status translate_current_exception(const char* function) noexcept {
  try {
    throw;
  } catch (const td::Error& error) {
    return fail(static_cast<td_status>(error.code()), function, error.what());
  } catch (const CallbackFailure& failure) {
    return from_callback(function, failure);
  } catch (const c10::OutOfMemoryError& error) {  // an accelerator's allocator
    return from_torch(TD_ERR_DEVICE_OUT_OF_MEMORY, function, error);
  } catch (const c10::IndexError& error) {
    return from_torch(TD_ERR_INDEX, function, error);
  } catch (const c10::TypeError& error) {
    return from_torch(TD_ERR_DTYPE, function, error);
  } catch (const c10::ValueError& error) {
    return from_torch(TD_ERR_INVALID_ARGUMENT, function, error);
  } catch (const c10::NotImplementedError& error) {
    return from_torch(TD_ERR_UNSUPPORTED, function, error);
  } catch (const c10::Error& error) {  // the base of the types above
    return from_torch(torch_code(error.what_without_backtrace()), function, error);
  } catch (const std::bad_alloc&) {
    return fail(TD_ERR_OUT_OF_MEMORY, function, "out of memory");
  } catch (const std::length_error&) {
    return fail(TD_ERR_OUT_OF_MEMORY, function, "out of memory: a size is too large");
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(TD_ERR_IO, function, error.what());
  } catch (const std::runtime_error& error) {
    // Thrown by c10::Scalar if a dtype cannot hold a number.
    const bool no_room = std::string_view(error.what()).find("cannot be converted to type") !=
                         std::string_view::npos;
    return fail(no_room ? TD_ERR_DTYPE : TD_ERR_INTERNAL, function, error.what());
  } catch (const std::exception& error) {
    return fail(TD_ERR_INTERNAL, function, error.what());
  } catch (...) {  // of another language
    return fail(TD_ERR_INTERNAL, function, "an exception of an unknown type");
  }
}

}  // namespace capi

int32_t td_set_grad_enabled(int32_t enabled) noexcept {
  const bool before = capi::grad_wanted;
  capi::grad_wanted = enabled != 0;
  return before ? 1 : 0;
}
