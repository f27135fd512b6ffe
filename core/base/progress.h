// core/base/progress.h: reports progress.
#pragma once

#include <atomic>
#include <cstddef>

namespace td {

// Units of work done, counted as the work defines them. Written by its threads, read by any.
struct WorkCount {
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> total{0};
};

}  // namespace td
