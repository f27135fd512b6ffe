// core/base/recursion_guard.h: a bound on the one kind of recursion there is: lazy stacks inside lazy stacks.
#pragma once

#include "core/base/error.h"

namespace td {

// Stands in every function that calls itself for the elements of a lazy stack.
class RecursionGuard {
 public:
  RecursionGuard() {
    if (depth >= limit) {
      fail(Code::unsupported, "lazy stacks are nested more than ", limit, " levels deep");
    }
    ++depth;
  }
  ~RecursionGuard() { --depth; }
  RecursionGuard(const RecursionGuard&) = delete;
  RecursionGuard& operator=(const RecursionGuard&) = delete;

 private:
  static constexpr int limit = 200;
  static inline thread_local int depth = 0;
};

}  // namespace td
