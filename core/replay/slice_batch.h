// core/replay/slice_batch.h: what a batch of slices says of its slices.
#pragma once

#include "core/replay/replay_sampler.h"
#include "core/tree/tensordict.h"

#include <vector>

namespace td {

// The slices of a batch, one behind the other.
struct SliceLayout {
  std::int64_t slice = 0;             // the length of a full one
  std::vector<std::int64_t> lengths;  // of each, without the rows that fill it up
  std::int64_t step = 0;              // rows between firsts of slices; 0: the lengths

  // Fills up slices by repeating their last row, so that all are of one length.
  static SliceLayout filled(Drawn& drawn);
  static SliceLayout of(const Drawn& drawn) { return {drawn.slice, drawn.lengths, 0}; }

  // Sets ("next", "truncated") to true in the last row of each slice and to false elsewhere; ("next", "done") too, where
  // it is not true anyhow; ("next", "terminated") to false unless it is there; "is_init", if it is there, to true in the
  // first row. Throws Code::dtype if they are not bool.
  void mark(TensorDict& batch) const;

  // A batch of [slices, rows of a slice], and ("collector", "mask"), which is false in rows that fill up.
  TensorDict by_slice(TensorDict batch) const;

 private:
  std::int64_t rows() const noexcept;
};

}  // namespace td
