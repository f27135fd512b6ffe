// core/base/parallel.h: runs a loop on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace td {

// Calls `f(i)` for each i below `n`, on up to `threads` threads including this one. A failure stops the others.
// That of the lowest i is rethrown here, as by one thread: all before it have begun.
template <class F>
void for_each(std::size_t n, std::size_t threads, const F& f) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed = n;
  const auto work = [&] {
    for (std::size_t i = next++; i < n; i = next++) {
      try {
        f(i);
      } catch (...) {
        next = n;
        const std::lock_guard<std::mutex> hold(mutex);
        if (i < failed) failure = std::current_exception();
        failed = std::min(failed, i);
      }
    }
  };
  std::vector<std::thread> others;
  const std::size_t wanted = std::min(threads, n);
  try {
    while (others.size() + 1 < wanted) others.emplace_back(work);
  } catch (...) {
    // No more threads are available: the running ones do the work.
  }
  work();
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace td
