// core/tensor/workers.h: passes the caller's settings to a worker thread.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>

#include <algorithm>

#if AT_PARALLEL_OPENMP && defined(_OPENMP)
#include <omp.h>
#endif

namespace td {

// Sets libtorch's number of threads for this thread only. at::set_num_threads() would set it for the process.
inline void limit_threads(int threads) {
#if AT_PARALLEL_OPENMP && defined(_OPENMP)
  // A thread's first operation resets the number to the process's, once in libtorch and once in the loops
  // compiled into this library: trigger both first.
  at::get_num_threads();
  at::internal::lazy_init_num_threads();
  omp_set_num_threads(std::max(threads, 1));
#else
  (void)threads;
#endif
}

}  // namespace td
