// error_slot.h: the last error of a thread. Only failing calls write it.
#pragma once

#include "tensordict/td_base.h"

#include <string_view>

namespace capi {

// Stores code, function and text. Cuts a long text at the boundary of a UTF-8 character. Does not
// allocate.
void store_error(td_status code, const char* function, std::string_view message) noexcept;

// Whether a callback stored this code after expect_error(): with td_set_error(), or through a call of the
// library that failed.
bool error_was_left(td_status code) noexcept;
void expect_error() noexcept;

// Sends a line to the function given to td_set_log(), if any.
void log(td_log_level level, const char* message) noexcept;

}  // namespace capi
