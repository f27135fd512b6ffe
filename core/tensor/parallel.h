// core/tensor/parallel.h: a loop over tensors that several threads share.
#pragma once

#include "core/base/parallel.h"

#include <ATen/ThreadLocalState.h>

namespace td {

// As for_each(), with libtorch's state of the calling thread on all of them.
template <class F>
void for_each_tensor(std::size_t n, std::size_t threads, const F& f) {
  const at::ThreadLocalState state;
  for_each(n, threads, [&](std::size_t i) {
    const at::ThreadLocalStateGuard guard(state);
    f(i);
  });
}

}  // namespace td
