// core/loader/loader_state.h: the state of a loader as a dictionary.
#pragma once

#include "core/loader/loader.h"

namespace td {

struct LoaderMark {
  LoaderMark() = default;
  // The start of a loader with these options.
  explicit LoaderMark(const LoaderOptions& options);

  static LoaderMark from_dict(const TensorDict& td);
  TensorDict to_dict() const;

  // Throws Code::invalid_argument if it belongs to a loader that draws other batches.
  void require_fit(const LoaderMark& own) const;

  std::int64_t epoch = 0, batch = 0;
  std::int64_t source_rows = -1;  // of the current epoch; -1 between epochs
  std::uint64_t seed = 0;

  // Must equal the loader's.
  std::int64_t rows = 0, rank = 0, world_size = 0, drop_last = 0, order = 0, draws = 0, flat = 0;
  std::int64_t slice_len = 0, slice_step = 0, short_slices = 0;
};

}  // namespace td
