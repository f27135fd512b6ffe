#include "core/datasets/save.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <map>

namespace td::datasets {

namespace {

// The rows of all episodes, one after the other.
class Joined {
 public:
  void add(const OwnedKey& place, const Rows& rows, std::int64_t before) {
    Column& column = columns_[place];
    if (column.rows != before) {
      fail(Code::unsupported, "all episodes of a data set of D4RL have the same entries; ",
           show_path(Path(names_of(place))), " is missing in some");
    }
    column.rows += rows.count();
    if (rows.is_tensor()) column.tensors.push_back(rows.tensor);
    column.values.insert(column.values.end(), rows.values.begin(), rows.values.end());
    if (!column.tensors.empty() && !column.values.empty())
      fail(Code::unsupported, show_path(Path(names_of(place))),
           " is a tensor in some episodes only");
  }

  void put(Draft& draft, std::int64_t rows) const {
    for (const auto& column : columns_) {
      if (column.second.rows != rows) {
        fail(Code::unsupported, "all episodes of a data set of D4RL have the same entries; ",
             show_path(Path(names_of(column.first))), " is missing in some");
      }
      if (column.second.tensors.empty()) {
        draft.put_value(column.first, Plain::of_list(column.second.values));
      } else {
        draft.put(column.first, at::cat(column.second.tensors));
      }
    }
  }

 private:
  struct Column {
    std::int64_t rows = 0;
    std::vector<at::Tensor> tensors;
    std::vector<Plain> values;
  };
  static std::vector<std::string_view> names_of(const OwnedKey& key) {
    return {key.begin(), key.end()};
  }
  std::map<OwnedKey, Column> columns_;
};

// Whether an episode has metadata that its rows do not tell.
bool says_more(const TensorDict& about) {
  bool more = false;
  visit_paths(*about.node(), [&](Path path, const Value&) {
    const std::string_view name = path[0];
    more = more || (name != "name" && name != "id" && name != "num_samples" &&
                    name != "total_steps" && name.substr(0, 8) != "rewards_");
  });
  return more;
}

}  // namespace

void save_d4rl(const Recording& recording, const std::string& path,
               const DatasetSaveOptions& options) {
  Draft draft(options.lossy);
  put_metadata(draft, recording.metadata, {},
               {"total", "total_episodes", "total_steps", "data_format", "dataset_size"});
  Joined rows;
  std::int64_t before = 0;
  bool any_truncated = false;
  for (const TensorDict& episode : recording.episodes) {
    any_truncated = any_truncated || episode.kind_of({"next", "truncated"}) == EntryKind::tensor;
  }
  std::vector<at::Tensor> timeouts;
  bool cut = false;
  for (std::size_t i = 0; i < recording.episodes.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    Entries entries(recording.episodes[i]);
    const std::int64_t steps = entries.steps();
    if (steps == 0) {
      draft.lose("episode " + std::to_string(i) + ", which has no steps");
      continue;
    }
    const auto move = [&](const OwnedKey& from, const char* to, bool needed) {
      std::optional<Rows> taken = entries.take(from);
      if (taken) return rows.add({to}, without_one(*taken), before);
      if (needed) {
        fail(Code::unsupported, "a data set of D4RL needs one tensor for its ", to,
             "; it is missing in episode ", i);
      }
    };
    if (std::optional<Rows> taken = entries.take({"observation"})) {
      rows.add({"observations"}, *taken, before);
    } else {
      fail(Code::unsupported,
           "a data set of D4RL needs an observation that is one tensor; it is missing in episode ",
           i);
    }
    if (std::optional<Rows> taken = entries.take({"action"})) {
      rows.add({"actions"}, *taken, before);
    } else {
      fail(Code::unsupported,
           "a data set of D4RL needs an action that is one tensor; it is missing in episode ", i);
    }
    if (std::optional<Rows> taken = entries.take({"next", "observation"}))
      rows.add({"next_observations"}, *taken, before);
    move({"next", "reward"}, "rewards", true);
    const Ends ends = take_ends(entries, draft, number);
    at::Tensor done = ends.terminated.logical_or(ends.truncated), truncated = ends.truncated;
    if (steps > 1 && done.narrow(0, 0, steps - 1).any().item<bool>())
      draft.lose("an end before the last step of episode " + std::to_string(i));
    if (i + 1 != recording.episodes.size() && !done[steps - 1].item<bool>()) {
      draft.lose("the end of episode " + std::to_string(i) +
                 ", which is neither terminated nor truncated");
      truncated = truncated.clone();
      truncated[steps - 1].fill_(true);
      cut = true;
    }
    Rows flags;
    flags.tensor = ends.terminated;
    rows.add({"terminals"}, flags, before);
    timeouts.push_back(truncated);
    for (const OwnedKey& key : entries.below({"info"})) {
      OwnedKey place{"infos"};
      place.insert(place.end(), key.begin() + 1, key.end());
      rows.add(place, *entries.take(key), before);
    }
    for (const OwnedKey& key : entries.below({})) {
      if (key != OwnedKey{"episode"}) rows.add(key, *entries.take(key), before);
    }
    if (i < recording.about.size() && says_more(recording.about[i]))
      draft.lose("the metadata of episodes");
    before += steps;
  }
  rows.put(draft, before);
  if ((any_truncated || cut) && !timeouts.empty())
    draft.put(OwnedKey{"timeouts"}, at::cat(timeouts));
  draft.require_all(DatasetKind::d4rl);
  draft.write(path, options);
}

}  // namespace td::datasets
