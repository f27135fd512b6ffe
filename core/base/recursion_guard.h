// core/base/recursion_guard.h: a bound on the kinds of recursion there are: lazy stacks inside lazy stacks, and
// functions of the caller that call back.
#pragma once

#include "core/base/error.h"

namespace td {

// Stands in every function that calls itself for the elements of a lazy stack, and where a function of the caller is
// called. 200 levels take less than 2 MB of the stack (docs/design/threads.md), without the caller's own frames.
class RecursionGuard {
 public:
  explicit RecursionGuard(const char* what = "lazy stacks are nested") {
    if (depth >= limit) fail(Code::unsupported, what, " more than ", limit, " levels deep");
    ++depth;
  }
  ~RecursionGuard() { --depth; }
  RecursionGuard(const RecursionGuard&) = delete;
  RecursionGuard& operator=(const RecursionGuard&) = delete;

 private:
  friend class RecursionDepth;
  static constexpr int limit = 200;
  static inline thread_local int depth = 0;
};

// How deep the thread is that makes this. A worker that it starts begins there: functions that start workers which
// call them again come to an end.
class RecursionDepth {
 public:
  void begin_there() const noexcept {
    RecursionGuard::depth = depth_;
    workers = workers_ + 1;
  }

  // Each worker of a worker starts several more: not without end.
  bool allows_workers() const noexcept { return workers_ < 4; }

 private:
  static inline thread_local int workers = 0;  // how many started one another up to this thread
  int depth_ = RecursionGuard::depth, workers_ = workers;
};

}  // namespace td
