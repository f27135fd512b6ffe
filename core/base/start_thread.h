// core/base/start_thread.h: a new thread, or a failure of this library.
#pragma once

#include "core/base/error.h"

#include <system_error>
#include <thread>
#include <utility>

namespace td {

// Throws Code::out_of_memory when the system has no more threads to give.
template <class F>
std::thread start_thread(F&& work) {
  try {
    return std::thread(std::forward<F>(work));
  } catch (const std::system_error& error) {
    fail(Code::out_of_memory, "the system cannot start a thread: ", error.what());
  }
}

}  // namespace td
