// core/replay/row_borders.h: whether an episode ends between two rows of a ring.
#pragma once

#include "core/loader/slices.h"
#include "core/replay/ring.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace td {

// Reads the entries that tell episodes apart where they lie, so that it sees rows that come later.
class RowBorders {
 public:
  // Nothing, if an entry does not lie densely in memory of the CPU. The entries are those that episode_ends() accepts.
  static std::optional<RowBorders> of(const RingRows& rows, const SliceOptions& options);

  // Whether the row at `place` is the last of an episode, if the one at `next` follows it.
  bool between(std::int64_t place, std::int64_t next) const noexcept;

 private:
  using Differ = bool (*)(const char* a, const char* b, std::size_t bytes) noexcept;
  struct Field {
    at::Tensor keep;
    const char* data;
    std::size_t bytes;  // of a row
    Differ differ;      // nullptr: a flag, which ends an episode where any of its bytes is not 0
  };
  std::vector<Field> fields_;
};

}  // namespace td
