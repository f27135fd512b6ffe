// core/tensor/parallel.h: runs a loop over tensors on several threads.
#pragma once

#include "core/base/parallel.h"

#include <ATen/ThreadLocalState.h>

namespace td {

// for_each() with the calling thread's libtorch state on each thread.
template <class F>
void for_each_tensor(std::size_t n, std::size_t threads, const F& f) {
  if (threads <= 1) return for_each(n, 1, f);
  const at::ThreadLocalState state;
  for_each(n, threads, [&](std::size_t i) {
    const at::ThreadLocalStateGuard guard(state);
    f(i);
  });
}

}  // namespace td
