// core/base/descent.h: a bound on the one kind of recursion there is: lazy stacks inside lazy stacks.
#pragma once

#include "core/base/error.h"

namespace td {

// Stands in every function that calls itself for the elements of a lazy stack.
class Descent {
 public:
  Descent() {
    if (depth >= limit) {
      fail(Code::unsupported, "lazy stacks are nested more than ", limit, " levels deep");
    }
    ++depth;
  }
  ~Descent() { --depth; }
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

 private:
  static constexpr int limit = 200;
  static inline thread_local int depth = 0;
};

}  // namespace td
