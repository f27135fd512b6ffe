// core/base/progress.h: how far work has come.
#pragma once

#include <atomic>
#include <cstddef>

namespace td {

// How far work has come; what is counted is up to the work. Written by its threads, read by any.
struct WorkCount {
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> total{0};
};

}  // namespace td
