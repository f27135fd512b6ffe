// error_slot.h: the last error of a thread. Written by failing calls only.
#pragma once

#include "tensordict/td_base.h"

#include <string_view>

namespace capi {

// Stores code, function and text together; the text is cut at the boundary of a UTF-8 character.
// Never allocates.
void store_error(td_status code, const char* function, std::string_view message) noexcept;

// Whether this code was stored since expect_error(): by td_set_error(), or by a call of the library
// that failed inside a callback.
bool error_was_left(td_status code) noexcept;
void expect_error() noexcept;

// Sends a line to the function given to td_set_log(), if there is one.
void log(td_log_level level, const char* message) noexcept;

}  // namespace capi
