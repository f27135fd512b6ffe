// core/base/recursion_guard.h: a bound on the kinds of recursion there are: lazy stacks inside lazy stacks, and
// functions of the caller that call back.
#pragma once

#include "core/base/error.h"

namespace td {

// Stands in every function that calls itself for the elements of a lazy stack, or a function of the caller.
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
  static constexpr int limit = 200;
  static inline thread_local int depth = 0;
};

}  // namespace td
