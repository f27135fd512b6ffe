// future_handle.h: work that was begun and not waited for, for all that can be begun so.
#pragma once

#include "arguments.h"

#include "core/memmap/future.h"

namespace capi {

template <>
struct Traits<td_future> : OwnedTraits<td::Future, Kind::future> {
  static constexpr const char* name = "future";
};

// Runs work on another thread so that calls of the library are there as on this one.
std::function<void(const std::function<void()>&)> like_this_thread();

}  // namespace capi
