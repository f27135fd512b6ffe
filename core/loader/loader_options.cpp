// Validates options and their combinations.
#include "core/loader/loader.h"

namespace td {

LoaderOptions checked(LoaderOptions options) {
  const auto refuse = [](const auto&... parts) { fail(Code::invalid_argument, parts...); };
  constexpr int most_workers = 1024;  // more is a mistake, and would exhaust the system's threads
  constexpr std::size_t most_ahead = 1 << 16;
  if (options.rows < 1) refuse("rows is ", options.rows, "; a batch has at least 1");
  if (options.epochs < 0) refuse("epochs is ", options.epochs, "; it must be at least 0");
  if (options.draws < 0) refuse("draws is ", options.draws, "; it must be at least 0");
  if (options.workers < 0 || options.workers > most_workers)
    refuse("num_workers is ", options.workers, "; 0 to ", most_workers, " are valid");
  if (options.ahead > most_ahead)
    refuse("ahead is ", options.ahead, "; 0 to ", most_ahead, " are valid");
  if (options.world_size < 1 || options.rank < 0 || options.rank >= options.world_size) {
    refuse("rank is ", options.rank, " of world_size ", options.world_size,
           "; it must be from 0 to below it");
  }
  const bool repeats = options.with_replacement || options.weights.defined();
  if (options.shuffle && repeats)
    refuse("shuffle takes each row once: not with replacement, or with weights");
  if (options.draws != 0 && !repeats)
    refuse("draws is for draws with replacement, or with weights");
  if (options.weights.defined() && options.refresh)
    refuse("weights are for a number of rows that stays, not with refresh");
  const SliceOptions& slices = options.slices;
  if (slices.length < 0) refuse("slice_len is ", slices.length, "; it must be at least 0");
  if (slices.step < 0) refuse("slice_step is ", slices.step, "; it must be at least 0");
  const bool of_slices = slices.step != 0 || slices.short_ones || options.concatenate ||
                         !slices.episode.empty() || !slices.ends.empty();
  if (slices.length == 0 && of_slices)
    refuse("episodes, slice_step and forms of slices need slice_len");
  if (slices.short_ones && !options.concatenate)
    refuse("slices of different lengths do not fit side by side: concatenate them");
  if (options.ahead == 0) options.ahead = 2 * static_cast<std::size_t>(options.workers);
  return options;
}

}  // namespace td
