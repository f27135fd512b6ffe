// core/tensor/workers.h: what a thread that works for a caller takes over from it.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>

#include <algorithm>

#if AT_PARALLEL_OPENMP && defined(_OPENMP)
#include <omp.h>
#endif

namespace td {

// Number of libtorch's threads for operations of this thread alone. at::set_num_threads() would say it
// to the whole process.
inline void limit_threads(int threads) {
#if AT_PARALLEL_OPENMP && defined(_OPENMP)
  // Set from the number of the process at the first operation of a thread: once in libtorch, and once
  // for the loops that were compiled into this library. Ours must come after both.
  at::get_num_threads();
  at::internal::lazy_init_num_threads();
  omp_set_num_threads(std::max(threads, 1));
#else
  (void)threads;
#endif
}

}  // namespace td
