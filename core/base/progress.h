// core/base/progress.h: how far work has come, as a line for a terminal.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

namespace td {

// How far work has come; what is counted is up to the work. Written by its threads, read by any.
struct WorkCount {
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> total{0};
};

// " 40%|####      | 4/10 [00:02<00:03, 2.0/s]"; without the bar when `width` is 0.
std::string progress_text(std::size_t done, std::size_t total, double seconds, std::size_t width);

}  // namespace td
