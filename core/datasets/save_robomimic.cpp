#include "core/consolidated/file_bytes.h"
#include "core/datasets/group_source.h"
#include "core/datasets/save.h"

#include <ATen/ATen.h>

#include <set>

namespace td::datasets {

namespace {

// The name of a demonstration: that of its metadata if it is one, and free.
std::string demo_name(const TensorDict& about, std::int64_t episode, std::set<std::string>& used) {
  const Plain name = metadata_member(about, "name");
  if (name.is(Plain::text)) {
    const std::string text(name.characters());
    if (number_of(text) >= 0 && text.find('/') == std::string::npos && used.insert(text).second)
      return text;
  }
  std::string text = "demo_" + std::to_string(episode);
  while (!used.insert(text).second)
    text = "demo_" + std::to_string(static_cast<std::int64_t>(used.size()) + episode);
  return text;
}

class Demo {
 public:
  Demo(Draft& draft, Entries& entries, OwnedKey group)
      : draft_(draft), entries_(entries), group_(std::move(group)) {}

  void observations(const OwnedKey& from, const char* to) {
    for (const OwnedKey& key : entries_.below(from)) {
      const Rows rows = *entries_.take(key);
      OwnedKey name(key.begin() + static_cast<std::ptrdiff_t>(from.size()), key.end());
      if (name.empty()) {
        name = {"observation"};
        draft_.set_attribute({"data"}, plain_mark, Plain::of_truth(true));
      }
      if (rows.is_tensor()) {
        draft_.put(joined(joined(group_, {to}), name), rows);  // robomimic knows it as "a/b"
      } else {
        draft_.lose("texts and files of pictures in observations, as " + show_path(views_of(key)));
      }
    }
  }

  void move(const OwnedKey& from, const char* to) {
    if (const std::optional<Rows> rows = entries_.take(from))
      draft_.put(joined(group_, {to}), without_one(*rows));
  }

 private:
  Draft& draft_;
  Entries& entries_;
  OwnedKey group_;
};

class RobomimicWriter final : public SetWriter {
 public:
  explicit RobomimicWriter(SetPlan plan)
      : plan_(std::move(plan)), draft_(plan_.options), file_(open_file(plan_)) {
    if (file_->is_empty()) return;
    const auto set = open_robomimic(new_file_path(plan_.path), DatasetOptions());
    now_.episodes = set->episodes;
    now_.forms.learn(*set);
    for (const std::int64_t length : set->lengths()) now_.steps += length;
    for (std::int64_t i = 0; i < now_.episodes; ++i) demo_name(set->metadata(i), i, now_.used);
  }

  std::int64_t episodes() const override { return now_.episodes; }

  void add(const TensorDict& rows, const TensorDict& about) override {
    State next = now_;
    if (plan_.each) draft_ = Draft(plan_.options);
    if (file_->is_empty()) put_head();
    put(rows, about, next);
    if (plan_.each) draft_.require_all(DatasetKind::robomimic);
    draft_.fails() ? draft_.drop() : draft_.write_to(*file_);
    if (plan_.each) file_->publish(plan_.options.durable, /*goes_on=*/true);
    now_ = std::move(next);
  }

  void finish() override {
    if (plan_.each && !file_->is_empty()) return;
    if (plan_.each) draft_ = Draft(plan_.options);  // what a refused episode left
    if (now_.episodes == 0) put_head();
    draft_.require_all(DatasetKind::robomimic);
    draft_.write_to(*file_);
    file_->publish(plan_.options.durable, /*goes_on=*/false);
  }

 private:
  struct State {
    std::int64_t episodes = 0, steps = 0;
    EntryForms forms{DatasetKind::robomimic};
    std::set<std::string> used;
  };

  void put_head() {
    draft_.put_group({"data"});
    put_metadata(draft_, plan_.metadata, {"data"},
                 {"total", "total_episodes", "total_steps", "data_format", "dataset_size"});
    if (!entry_of(plan_.metadata.node(), "env_args") && !entry_of(plan_.metadata.node(), "env")) {
      draft_.set_attribute(
          {"data"}, "env_args",
          Plain::of_text(R"({"env_name": "unknown", "type": 2, "env_kwargs": {}})"));
    }
    draft_.set_attribute({"data"}, "total", Plain::of_integer(0));
  }

  void put(const TensorDict& rows, const TensorDict& about, State& next) {
    Entries entries(rows);
    const std::int64_t number = next.episodes;
    next.forms.require(entries, number);
    const OwnedKey group{"data", demo_name(about, number, next.used)};
    draft_.put_group(group);
    Demo demo(draft_, entries, group);
    demo.observations({"observation"}, "obs");
    demo.observations({"next", "observation"}, "next_obs");
    if (entries.find({"action"}) == nullptr)
      fail_needed(DatasetKind::robomimic, "an action that is one tensor", number);
    draft_.put(joined(group, {"actions"}), *entries.take({"action"}));
    demo.move({"next", "reward"}, "rewards");
    const Ends ends = take_ends(entries, draft_, number);
    draft_.put(joined(group, {"dones"}), ends.terminated.logical_or(ends.truncated).to(at::kLong));
    if (ends.has_terminated) draft_.put(joined(group, {"terminations"}), ends.terminated);
    if (ends.has_truncated) draft_.put(joined(group, {"truncations"}), ends.truncated);
    put_rest(draft_, entries, group,
             {"obs", "next_obs", "actions", "rewards", "dones", "terminations", "truncations"});
    put_about(draft_, about, group, {"name", "num_samples", "total_steps"});
    draft_.set_attribute(group, "num_samples", Plain::of_integer(entries.steps()));
    next.episodes += 1;
    next.steps += entries.steps();
    draft_.set_attribute({"data"}, "total", Plain::of_integer(next.steps));
  }

  SetPlan plan_;
  Draft draft_;
  State now_;
  std::unique_ptr<hdf5::GrowingFile> file_;
};

}  // namespace

std::unique_ptr<SetWriter> write_robomimic(const SetPlan& plan) {
  return std::make_unique<RobomimicWriter>(plan);
}

}  // namespace td::datasets
