// future_handle.h: the object behind a td_future.
#pragma once

#include "arguments.h"

#include "core/memmap/future.h"

namespace capi {

template <>
struct Traits<td_future> : OwnedTraits<td::Future, Kind::future> {
  static constexpr const char* name = "future";
};

// Wraps work for another thread: calls of the library run there with the state of this thread.
std::function<void(const std::function<void()>&)> like_this_thread();

}  // namespace capi
