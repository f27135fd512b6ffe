// tensordict/td_replay.h
#include "choices.h"
#include "dataset_handle.h"
#include "give.h"
#include "guard.h"
#include "key_names.h"
#include "memmap_options.h"
#include "module_handle.h"
#include "tensordict/td_replay.h"

#include "core/datasets/set_replay.h"
#include "core/replay/replay.h"

namespace capi {

template <>
struct Traits<td_replay> : OwnedTraits<td::Replay, Kind::replay> {
  static constexpr const char* name = "replay buffer";
};

}  // namespace capi

namespace {

td::ReplayOptions replay_options_in(const td_replay_options* options) {
  constexpr std::size_t first_size = offsetof(td_replay_options, num_slices);
  const td_replay_options given =
      capi::options_in(options, td_replay_options TD_REPLAY_OPTIONS_INIT, first_size);
  check_flags(given.flags, 2 * TD_REPLAY_BY_SLICE - 1);
  if (given.reserved != 0)
    td::fail(td::Code::invalid_argument, "td_replay_options.reserved is not zero");
  const auto flag = [&](td_replay_flags wanted) { return (given.flags & wanted) != 0; };
  td::ReplayOptions result;
  result.sampling = capi::choice_in<td::ReplaySampling>(
      given.sampler, TD_REPLAY_SAMPLER_AS_STORED, TD_REPLAY_SAMPLER_PRIORITIZED_SLICES, "sampler");
  result.capacity = given.capacity;
  result.rows = given.rows;
  result.seed = given.seed;
  result.drop_last = flag(TD_REPLAY_DROP_LAST);
  result.in_order = flag(TD_REPLAY_IN_ORDER);
  result.batch_weights = flag(TD_REPLAY_BATCH_WEIGHTS);
  result.alpha = given.alpha;
  result.beta = given.beta;
  result.eps = given.eps;
  result.slices.length = given.slice_len;
  result.slices.short_ones = flag(TD_REPLAY_SHORT);
  const auto span = [&](td_replay_flags all, int64_t rows) {
    return rows == 0 && flag(all) ? td::ReplayOptions::whole_span : rows;
  };
  result.span_begin = span(TD_REPLAY_SPAN_BEGIN, given.span_begin);
  result.span_end = span(TD_REPLAY_SPAN_END, given.span_end);
  result.num_slices = given.num_slices;
  result.mark_ends = flag(TD_REPLAY_MARK_ENDS);
  result.by_slice = flag(TD_REPLAY_BY_SLICE);
  result.largest_within = flag(TD_REPLAY_LARGEST_WITHIN);
  result.dims = given.dims;
  result.steps = given.n_steps;
  result.gamma = given.gamma;
  result.rewards = capi::key_names(given.rewards, given.rewards_len, "rewards");
  if (given.mask != nullptr) result.mask = capi::key_names(*given.mask);
  if (given.priority_key != nullptr) result.priority = capi::key_names(*given.priority_key);
  if (given.episode != nullptr) result.slices.episode = capi::key_names(*given.episode);
  result.slices.ends = capi::key_names(given.ends, given.ends_len, "ends");
  result.folder = capi::dir_in(given.folder);
  return result;
}

td::HindsightOptions hindsight_in(const td_replay_hindsight_options* options) {
  const td_replay_hindsight_options given =
      capi::options_in(options, td_replay_hindsight_options TD_REPLAY_HINDSIGHT_OPTIONS_INIT);
  td::HindsightOptions result;
  result.strategy = capi::choice_in<td::HindsightStrategy>(
      given.strategy, TD_REPLAY_HINDSIGHT_FUTURE, TD_REPLAY_HINDSIGHT_RANDOM, "strategy");
  result.ratio = given.ratio;
  if (given.goal != nullptr) result.goal = capi::key_names(*given.goal);
  if (given.achieved_goal != nullptr) result.achieved = capi::key_names(*given.achieved_goal);
  if (given.reward != nullptr) result.reward = capi::key_names(*given.reward);
  return result;
}

std::unique_ptr<td::Replay> opened(const char* folder, const td_replay_options* options,
                                   bool live) {
  const td::ReplayOptions given = replay_options_in(options);
  if (!given.folder.empty()) {
    td::fail(td::Code::invalid_argument, "td_replay_options.folder is \"", given.folder,
             "\"; it is for td_replay_create() only");
  }
  return td::Replay::open(capi::dir_in(not_null(folder, "folder")), given, live);
}

}  // namespace

td_status td_replay_create(const td_replay_options* options, td_replay** result) noexcept {
  return give(__func__, result, [&] {
    return std::make_unique<td::Replay>(replay_options_in(not_null(options, "options")));
  });
}

td_status td_replay_open(const char* folder, const td_replay_options* options,
                         td_replay** result) noexcept {
  return give(__func__, result, [&] { return opened(folder, options, /*live=*/true); });
}

td_status td_replay_load(const char* folder, const td_replay_options* options,
                         td_replay** result) noexcept {
  return give(__func__, result, [&] { return opened(folder, options, /*live=*/false); });
}

td_status td_replay_create_from_dataset(const td_dataset* dataset, const td_replay_options* options,
                                        td_replay** result) noexcept {
  return give(__func__, result,
              [&] { return td::replay_dataset(*in(dataset), replay_options_in(options)); });
}

void td_replay_free(td_replay* replay) noexcept { capi::free_handle(replay); }

td_status td_replay_add(td_replay* replay, const td_tensordict* row) noexcept {
  return guard(__func__, [&] { in(replay)->add(*in(row)); });
}

td_status td_replay_extend(td_replay* replay, const td_tensordict* rows) noexcept {
  return guard(__func__, [&] { in(replay)->extend(*in(rows)); });
}

td_status td_replay_sample(td_replay* replay, int64_t rows, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(replay)->sample(rows); });
}

td_status td_replay_sample_hindsight(td_replay* replay, int64_t rows,
                                     const td_replay_hindsight_options* options,
                                     const td_module* reward, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td::HindsightOptions given = hindsight_in(options);
    const td::ModulePtr called = reward != nullptr ? *in(reward) : nullptr;
    td::Relabeled drawn = in(replay)->sample_hindsight(rows, given);
    if (called) drawn.reward(given, *called);
    return std::move(drawn.batch);
  });
}

td_status td_replay_update_priority(td_replay* replay, const td_tensor* index,
                                    const td_tensor* priority) noexcept {
  return guard(__func__, [&] { in(replay)->update_priority(*in(index), *in(priority)); });
}

td_status td_replay_set_beta(td_replay* replay, double beta) noexcept {
  return guard(__func__, [&] { in(replay)->set_beta(beta); });
}

td_status td_replay_where(const td_replay* replay, int64_t* len, int64_t* capacity, int64_t* cursor,
                          int64_t* written) noexcept {
  return guard(__func__, [&] {
    const td::RingCounts counts = in(replay)->counts();
    if (len != nullptr) *len = counts.length;
    if (capacity != nullptr) *capacity = counts.capacity;
    if (cursor != nullptr) *cursor = counts.cursor;
    if (written != nullptr) *written = counts.written;
  });
}

td_status td_replay_dict(const td_replay* replay, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(replay)->dict(); });
}

td_status td_replay_save(td_replay* replay, const char* folder,
                         td_replay_save_flags flags) noexcept {
  return guard(__func__, [&] {
    in(replay)->save(capi::dir_in(folder), capi::flag_in(flags, TD_REPLAY_SAVE_DURABLE));
  });
}
