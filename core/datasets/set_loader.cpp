#include "core/datasets/set_loader.h"

#include "core/datasets/row_reader.h"
#include "core/keys/entries.h"
#include "core/shape/convert.h"

#include <ATen/ATen.h>

namespace td {

std::unique_ptr<Loader> load_dataset(const Dataset& set, LoaderOptions options) {
  if (!options.slices.episode.empty() || !options.slices.ends.empty()) {
    fail(Code::invalid_argument,
         "a data set knows its episodes: \"episode\" and \"ends\" are for dictionaries");
  }
  if (options.refresh)
    fail(Code::invalid_argument, "a data set is not read again for each epoch: open it anew");
  if (options.slices.length > 0) options.slices.episode = {"episode"};
  ConvertOptions where;
  where.device = std::exchange(options.device, std::nullopt);
  where.pin = std::exchange(options.pin, false);
  const bool moves = where.device || where.pin;
  if (moves) convert(TensorDict(), where);  // fails here, not in the first batch
  const auto reader = std::make_shared<const datasets::RowReader>(set);
  const auto keys = std::exchange(options.keys, {});
  options.transform = [reader, keys, where, moves, then = std::move(options.transform)](
                          const Piece& piece, const TensorDict& numbers) {
    TensorDict batch = reader->read(numbers.get({"row"}));
    if (!keys.empty()) {
      std::vector<std::vector<std::string_view>> names;
      std::vector<Path> paths;
      for (const auto& key : keys) names.emplace_back(key.begin(), key.end());
      for (const auto& name : names) paths.emplace_back(name);
      batch = select(batch, paths);
    }
    if (moves) batch = convert(batch, where);
    return then ? then(piece, batch) : batch;
  };
  TensorDict numbers(Sizes{reader->rows()});  // what is drawn from
  numbers.set({"row"}, at::arange(reader->rows(), at::kLong));
  numbers.set({"episode"}, reader->episodes());
  return std::make_unique<Loader>(numbers, std::move(options));
}

}  // namespace td
