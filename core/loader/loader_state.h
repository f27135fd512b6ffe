// core/loader/loader_state.h: what a loader needs to go on at the same batch, as a dictionary.
#pragma once

#include "core/loader/loader.h"

namespace td {

struct LoaderMark {
  LoaderMark() = default;
  // The beginning of a loader with these options.
  explicit LoaderMark(const LoaderOptions& options);

  static LoaderMark from_dict(const TensorDict& td);
  TensorDict to_dict() const;

  // Throws Code::invalid_argument when it is of a loader that draws other batches.
  void require_fit(const LoaderMark& own) const;

  std::int64_t epoch = 0, batch = 0;
  std::int64_t source_rows = -1;  // of the epoch that has begun; -1 between two epochs
  std::uint64_t seed = 0;

  // What must be that of the loader.
  std::int64_t rows = 0, rank = 0, world_size = 0, drop_last = 0, order = 0, draws = 0, flat = 0;
  std::int64_t slice_len = 0, slice_step = 0, short_slices = 0;
};

}  // namespace td
