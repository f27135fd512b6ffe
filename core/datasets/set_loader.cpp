#include "core/datasets/set_loader.h"

#include "core/datasets/source.h"
#include "core/keys/entries.h"
#include "core/shape/convert.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

using datasets::Source;
using datasets::Steps;

// Rows of a set by their numbers.
class RowReader {
 public:
  explicit RowReader(const Dataset& set) : source_(set.source()) {
    for (const std::int64_t length : set.lengths()) starts_.push_back(starts_.back() + length);
  }

  // What a loader draws from: the number of each row, and of its episode.
  TensorDict numbers() const {
    at::Tensor episode = at::empty({starts_.back()}, at::kLong);
    for (std::size_t i = 0; i + 1 < starts_.size(); ++i) {
      std::fill(episode.data_ptr<std::int64_t>() + starts_[i],
                episode.data_ptr<std::int64_t>() + starts_[i + 1], static_cast<std::int64_t>(i));
    }
    TensorDict result(Sizes{starts_.back()});
    result.set({"row"}, at::arange(starts_.back(), at::kLong));
    result.set({"episode"}, episode);
    return result;
  }

  // In the order of the set, each once, since neighbours lie together in a file; then in the order that is asked for.
  TensorDict read(const at::Tensor& rows) const {
    at::Tensor wanted, places;
    std::tie(wanted, places, std::ignore) =
        at::_unique2(rows.reshape({-1}), /*sorted=*/true, /*return_inverse=*/true);
    std::vector<Steps> steps;
    auto next = starts_.begin();
    for (std::int64_t i = 0; i < wanted.numel(); ++i) {
      const std::int64_t row = wanted.data_ptr<std::int64_t>()[i];
      next = std::upper_bound(next, starts_.end(), row);
      const std::int64_t episode = next - starts_.begin() - 1, from = row - *(next - 1);
      if (!steps.empty() && steps.back().episode == episode &&
          steps.back().from + steps.back().count == from) {
        ++steps.back().count;
      } else {
        steps.push_back({episode, from, 1});
      }
    }
    TensorDict found = source_->read(steps);
    const bool in_order = wanted.numel() == places.numel() &&
                          at::equal(places, at::arange(places.numel(), at::kLong));
    if (!in_order) found = found.index(IndexItem::of(places));
    return rows.dim() == 1 ? found : found.reshape(rows.sizes());
  }

 private:
  std::shared_ptr<const Source> source_;
  std::vector<std::int64_t> starts_{0};  // of each episode, and the end
};

}  // namespace

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
  const auto reader = std::make_shared<const RowReader>(set);
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
  return std::make_unique<Loader>(reader->numbers(), std::move(options));
}

}  // namespace td
