// core/base/start_thread.h: starts a thread.
#pragma once

#include "core/base/error.h"

#include <system_error>
#include <thread>
#include <utility>

namespace td {

// Throws Code::out_of_memory if the system refuses.
template <class F>
std::thread start_thread(F&& work) {
  try {
    return std::thread(std::forward<F>(work));
  } catch (const std::system_error& error) {
    fail(Code::out_of_memory, "the system cannot start a thread: ", error.what());
  }
}

}  // namespace td
