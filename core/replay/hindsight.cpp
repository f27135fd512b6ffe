#include "core/replay/hindsight.h"

#include "core/shape/shape.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

std::int64_t place_of_goal(HindsightStrategy strategy, const RingEpisodes& episodes,
                           std::int64_t place, RandomNumbers& random) {
  const std::int64_t columns = episodes.columns();
  if (strategy == HindsightStrategy::random) {
    const std::int64_t step = episodes.time().place(random.below(episodes.time().whole()));
    return step * columns + random.below(columns);
  }
  const RingEpisode& episode = episodes.of(place);
  const std::int64_t step = episodes.step_at(place) - episode.first;
  switch (strategy) {
    case HindsightStrategy::future:
      return episodes.place(episode, step + random.below(episode.length - step));
    case HindsightStrategy::episode: return episodes.place(episode, random.below(episode.length));
    default: return episodes.place(episode, episode.length - 1);
  }
}

void put_goals(const TensorDict& batch, Path path, const at::Tensor& goals) {
  const at::Tensor into = batch.get(path).narrow(0, 0, goals.size(0));
  if (into.scalar_type() != goals.scalar_type()) {
    fail(Code::dtype, show_path(path), " is ", dtype_name(into.scalar_type()),
         "; what was reached is ", dtype_name(goals.scalar_type()));
  }
  if (into.sizes() != goals.sizes()) {
    fail(Code::shape, show_path(path), " has shape ", show_sizes(into.sizes()),
         "; what was reached has ", show_sizes(goals.sizes()));
  }
  into.copy_(goals);
}

}  // namespace

void check_hindsight(const HindsightOptions& options) {
  if (!(options.ratio >= 0 && options.ratio <= 1))
    fail(Code::invalid_argument, "ratio is ", options.ratio, "; it must be 0 to 1");
}

std::int64_t hindsight_rows(const HindsightOptions& options, std::int64_t rows) {
  return static_cast<std::int64_t>(static_cast<double>(rows) * options.ratio);
}

void give_reached_goals(const HindsightOptions& options, const RingEpisodes& episodes,
                        const RingRows& rows, c10::ArrayRef<std::int64_t> places,
                        RandomNumbers& random, TensorDict& batch) {
  if (rows.dict().batch_size().size() != 1) {
    fail(Code::unsupported, "rows are batches of ", show_sizes(rows.dict().batch_size().slice(1)),
         ", which may end one by one: other goals need single elements (dims)");
  }
  std::vector<std::int64_t> reached;
  reached.reserve(places.size());
  for (const std::int64_t place : places)
    reached.push_back(place_of_goal(options.strategy, episodes, place, random));
  const KeyPath goal(options.goal);
  const at::Tensor goals = rows.source()
                               ->column(KeyPath(options.achieved))
                               .index_select(0, at::tensor(reached, at::kLong));
  std::vector<std::string> below{"next"};
  below.insert(below.end(), options.goal.begin(), options.goal.end());
  const KeyPath next_goal(std::move(below));
  put_goals(batch, goal, goals);
  if (batch.stored(next_goal) != nullptr) put_goals(batch, next_goal, goals);
}

void Relabeled::reward(const HindsightOptions& options, const Module& module) {
  if (rows == 0) return;
  const KeyPath path(options.reward);
  const KeyPaths& written = module.out_keys();
  if (!module.writes_any() && std::find(written.begin(), written.end(), path) == written.end())
    fail(Code::invalid_argument, "the module does not write ", show_path(path));
  const TensorDict part = narrow(batch, 0, 0, rows);
  module.call_inplace(part);
  const at::Tensor values = part.get(path).detach();
  const at::Tensor into = batch.get(path).narrow(0, 0, rows);
  if (values.numel() != into.numel()) {
    fail(Code::shape, show_path(path), " of the module has shape ", show_sizes(values.sizes()),
         "; the rows need ", show_sizes(into.sizes()));
  }
  const at::NoGradGuard no_grad;
  into.copy_(values.reshape(into.sizes()));
}

}  // namespace td
