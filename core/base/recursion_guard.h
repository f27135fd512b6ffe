// core/base/recursion_guard.h: bounds recursion through nested lazy stacks and through callbacks.
#pragma once

#include "core/base/error.h"

namespace td {

// Used by each function that recurses into the elements of a lazy stack or calls a callback. 200 levels take
// less than 2 MB of stack (docs/design/threads.md), without the callbacks' frames.
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

// The depth of the creating thread, passed to its workers, so that callbacks that start workers recursively
// end.
class RecursionDepth {
 public:
  void begin_there() const noexcept {
    RecursionGuard::depth = depth_;
    workers = workers_ + 1;
  }

  // Limits workers that start workers: each level multiplies their number.
  bool allows_workers() const noexcept { return workers_ < 4; }

 private:
  static inline thread_local int workers = 0;  // nesting of workers above this thread
  int depth_ = RecursionGuard::depth, workers_ = workers;
};

}  // namespace td
