#include "core/consolidated/file_bytes.h"
#include "core/datasets/group_source.h"
#include "core/datasets/save.h"
#include "core/datasets/source.h"
#include "core/hdf5/group_file.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <set>

namespace td::datasets {

namespace {

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

class D4rlWriter final : public SetWriter {
 public:
  explicit D4rlWriter(SetPlan plan)
      : plan_(std::move(plan)), draft_(plan_.options), file_(open_file(plan_)) {
    if (!file_->is_empty()) resume();
    const Plain wide = metadata_member(plan_.metadata, wide_mark);
    if (!wide.is(Plain::list)) return;
    for (const Plain& name : wide.items())
      if (name.is(Plain::text)) wide_.insert(std::string(name.characters()));
  }

  std::int64_t episodes() const override { return now_.episodes; }

  void add(const TensorDict& rows, const TensorDict& about) override {
    State next = now_;
    if (plan_.each) draft_ = Draft(plan_.options);
    if (file_->is_empty()) put_head();
    const TensorDict columns = put(rows, about, next);
    if (plan_.each) draft_.require_all(DatasetKind::d4rl);
    if (draft_.fails()) {
      draft_.drop();
    } else {
      draft_.write_to(*file_);
      file_->write_rows(columns, now_.rows);
      write_timeouts(next);
    }
    if (plan_.each) file_->publish(plan_.options.durable, /*goes_on=*/true);
    now_ = std::move(next);
  }

  void finish() override {
    if (plan_.each && !file_->is_empty()) return;
    if (now_.rows == 0)
      fail(Code::shape, "a data set of D4RL has one step at least, and none was written");
    if (plan_.each) draft_ = Draft(plan_.options);  // what a refused episode left
    draft_.require_all(DatasetKind::d4rl);
    draft_.write_to(*file_);
    file_->publish(plan_.options.durable, /*goes_on=*/false);
  }

 private:
  struct State {
    std::int64_t episodes = 0, rows = 0;
    std::set<OwnedKey> columns;  // that the file has
    bool has_timeouts = false;
    bool is_open = false;  // the last episode just stopped
    at::Tensor timeouts;   // of the episode; one more before it, if the last one was cut there
  };

  // [rows], or [rows, 1] as the set had it.
  Rows number_of_row(const char* name, const Rows& given) const {
    Rows rows = without_one(given);
    if (wide_.count(name) != 0 && rows.is_tensor() && rows.tensor.dim() == 1)
      rows.tensor = rows.tensor.unsqueeze(1);
    return rows;
  }

  void put_head() {
    put_metadata(
        draft_, plan_.metadata, {},
        {"total", "total_episodes", "total_steps", "data_format", "dataset_size", wide_mark});
  }

  void resume() {
    const std::string target = new_file_path(plan_.path);
    const auto set = open_d4rl(target, DatasetOptions());
    plan_.metadata = set->metadata();
    now_.episodes = set->episodes;
    for (const std::int64_t length : set->lengths()) now_.rows += length;
    const auto file = hdf5::GroupFile::open(target, 0, 0);
    for (const std::string& name : file->names("/")) {
      for (const hdf5::Leaf& leaf : file->leaves("/" + name)) {
        if (name != "metadata" && leaf.rows() == now_.rows)
          now_.columns.insert(joined({name}, leaf.path));
      }
    }
    now_.has_timeouts = now_.columns.erase(OwnedKey{"timeouts"}) != 0;
    if (now_.rows == 0) return;
    const std::int64_t last = set->length(now_.episodes - 1) - 1;
    const at::Tensor done = set->read({{now_.episodes - 1, last, 1}}).get({"next", "done"});
    now_.is_open = !done.item<bool>();
  }

  // The columns of the file, with the rows of an episode.
  TensorDict put(const TensorDict& rows, const TensorDict& about, State& next) {
    const std::int64_t number = next.episodes++;
    Entries entries(rows);
    const std::int64_t steps = entries.steps();
    TensorDict columns;
    next.timeouts.reset();
    if (steps == 0) {
      draft_.lose_empty(number);
      return columns;
    }
    std::set<OwnedKey> seen;
    const auto add = [&](const OwnedKey& place, const Rows& values) {
      if (!draft_.holds(values, show_path(views_of(place)))) return;
      if (!seen.insert(place).second)
        fail(Code::key_exists, "two entries would be the dataset ", show_path(views_of(place)));
      if (values.is_tensor()) {
        columns.set(views_of(place), values.tensor);
      } else {
        columns.set_non_tensor(views_of(place), Plain::of_list(values.values));
      }
    };
    const auto move = [&](const OwnedKey& from, const char* to, const char* needed) {
      std::optional<Rows> taken = entries.take(from);
      const bool is_reward = from[0] == "next" && from[1] == "reward";
      if (taken) return add({to}, is_reward ? number_of_row(to, *taken) : *taken);
      if (needed != nullptr) fail_needed(DatasetKind::d4rl, needed, number);
    };
    move({"observation"}, "observations", "an observation that is one tensor");
    move({"action"}, "actions", "an action that is one tensor");
    move({"next", "observation"}, "next_observations", nullptr);
    move({"next", "reward"}, "rewards", "one tensor for its rewards");
    Rows flags;
    put_ends(take_ends(entries, draft_, number), number, steps, next, flags);
    add({"terminals"}, number_of_row("terminals", flags));
    for (const OwnedKey& key : entries.below({"info"})) {
      OwnedKey place{"infos"};
      place.insert(place.end(), key.begin() + 1, key.end());
      add(place, *entries.take(key));
    }
    note_episode(draft_, entries);
    for (const OwnedKey& key : entries.below({})) {
      if (key == OwnedKey{"episode"}) continue;
      refuse_taken(key, {"infos", "timeouts", "metadata", "virtual"});
      add(key, *entries.take(key));
    }
    require_same(seen, next);
    if (says_more(about)) draft_.lose("the metadata of episodes");
    next.rows += steps;
    return columns;
  }

  void put_ends(const Ends& ends, std::int64_t number, std::int64_t steps, State& next,
                Rows& terminals) {
    const at::Tensor done = ends.terminated.logical_or(ends.truncated);
    if (steps > 1 && done.narrow(0, 0, steps - 1).any().item<bool>())
      draft_.lose("an end before the last step of episode " + std::to_string(number));
    const bool cuts = next.is_open;
    if (cuts) {
      draft_.lose("the end of episode " + std::to_string(number - 1) +
                  ", which is neither terminated nor truncated");
    }
    next.is_open = !done[steps - 1].item<bool>();
    next.timeouts = cuts ? at::cat({at::ones({1}, at::kBool), ends.truncated}) : ends.truncated;
    next.has_timeouts = next.has_timeouts || cuts || ends.has_truncated;
    terminals.tensor = ends.terminated;
  }

  static void require_same(const std::set<OwnedKey>& seen, State& next) {
    if (next.rows == 0) next.columns = seen;
    const auto missing = [](const std::set<OwnedKey>& some, const std::set<OwnedKey>& others) {
      for (const OwnedKey& place : others) {
        if (some.count(place) != 0) continue;
        fail(Code::unsupported, "all episodes of a data set of D4RL have the same entries; ",
             show_path(views_of(place)), " is missing in some");
      }
    };
    missing(seen, next.columns);
    missing(next.columns, seen);
  }

  // The first episode that is truncated makes the column; those before get false.
  void write_timeouts(const State& next) {
    if (!next.has_timeouts || !next.timeouts.defined()) return;
    TensorDict column;
    column.set({"timeouts"}, number_of_row("timeouts", {next.timeouts, {}}).tensor);
    file_->write_rows(column, next.rows - next.timeouts.size(0));
  }

  SetPlan plan_;
  Draft draft_;
  State now_;
  std::set<std::string> wide_;  // datasets of [rows, 1]
  std::unique_ptr<hdf5::GrowingFile> file_;
};

}  // namespace

std::unique_ptr<SetWriter> write_d4rl(const SetPlan& plan) {
  return std::make_unique<D4rlWriter>(plan);
}

}  // namespace td::datasets
