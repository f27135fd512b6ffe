#include "core/datasets/set_replay.h"

#include "core/datasets/row_reader.h"

namespace td {

std::unique_ptr<Replay> replay_dataset(const Dataset& set, ReplayOptions options) {
  const auto refuse = [](const auto&... parts) { fail(Code::invalid_argument, parts...); };
  if (!options.slices.episode.empty() || !options.slices.ends.empty())
    refuse("a data set knows its episodes: \"episode\" and \"ends\" are for other rows");
  if (!options.folder.empty())
    refuse("the rows lie in the data set: \"", options.folder,
           "\" would be another folder of them");
  if (options.dims > 1) refuse("dims is ", options.dims, "; the rows of a data set have 1");
  if (!options.priority.empty()) refuse("priority_key is for new rows, and a data set takes none");
  if (options.steps > 0) {
    fail(Code::unsupported, "returns of n_steps need rows in memory: add them to a buffer of its ",
         "own, in parts");
  }
  const auto reader = std::make_shared<const datasets::RowReader>(set);
  if (reader->rows() == 0) fail(Code::shape, "the data set has no rows: none can be drawn");
  if (options.capacity != 0 && options.capacity != reader->rows())
    refuse("capacity is ", options.capacity, "; the data set has ", reader->rows(), " rows");
  if (of_slices(options.sampling)) options.slices.episode = {"episode"};
  TensorDict known(Sizes{reader->rows()});
  known.set({"episode"}, reader->episodes());
  return Replay::over(
      std::move(known), [reader](const at::Tensor& rows) { return reader->read(rows); },
      std::move(options));
}

}  // namespace td
