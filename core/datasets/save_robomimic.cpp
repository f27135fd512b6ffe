#include "core/datasets/group_source.h"
#include "core/datasets/save.h"

#include <ATen/ATen.h>

#include <set>

namespace td::datasets {

namespace {

// The name of a demonstration: that of its metadata if it is one, and free.
std::string demo_name(const Recording& recording, std::size_t episode,
                      std::set<std::string>& used) {
  if (episode < recording.about.size()) {
    const TensorDict& about = recording.about[episode];
    const std::optional<Value> found = entry_of(about.node(), "name");
    const Plain* name = found && found->is_node() ? one_value(*found->node()) : nullptr;
    if (name != nullptr && name->is(Plain::text)) {
      const std::string text(name->characters());
      if (number_of(text) >= 0 && text.find('/') == std::string::npos && used.insert(text).second)
        return text;
    }
  }
  std::string text = "demo_" + std::to_string(episode);
  while (!used.insert(text).second) text = "demo_" + std::to_string(used.size() + episode);
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
      if (name.size() > 1) {
        draft_.lose("observations nested as " + show_path(Path(names_of(key))));
        std::string flat = name[0];
        for (std::size_t i = 1; i < name.size(); ++i) flat += "." + name[i];
        name = {flat};
      }
      if (rows.is_tensor()) {
        draft_.put(joined(group_, {to, name[0]}), rows);
      } else {
        draft_.lose("texts and files of pictures in observations, as " +
                    show_path(Path(names_of(key))));
      }
    }
  }

  void move(const OwnedKey& from, const char* to) {
    if (const std::optional<Rows> rows = entries_.take(from))
      draft_.put(joined(group_, {to}), without_one(*rows));
  }

 private:
  static std::vector<std::string_view> names_of(const OwnedKey& key) {
    return {key.begin(), key.end()};
  }

  Draft& draft_;
  Entries& entries_;
  OwnedKey group_;
};

}  // namespace

void save_robomimic(const Recording& recording, const std::string& path,
                    const DatasetSaveOptions& options) {
  Draft draft(options.lossy);
  draft.put_group({"data"});
  put_metadata(draft, recording.metadata, {"data"},
               {"total", "total_episodes", "total_steps", "data_format", "dataset_size"});
  std::int64_t total = 0;
  std::set<std::string> used;
  for (std::size_t i = 0; i < recording.episodes.size(); ++i) {
    Entries entries(recording.episodes[i]);
    const OwnedKey group{"data", demo_name(recording, i, used)};
    draft.put_group(group);
    Demo demo(draft, entries, group);
    demo.observations({"observation"}, "obs");
    demo.observations({"next", "observation"}, "next_obs");
    if (entries.find({"action"}) == nullptr) {
      fail(Code::unsupported,
           "a data set of robomimic needs an action that is one tensor; it is missing in episode ",
           i);
    }
    draft.put(joined(group, {"actions"}), *entries.take({"action"}));
    demo.move({"next", "reward"}, "rewards");
    const Ends ends = take_ends(entries, draft, static_cast<std::int64_t>(i));
    draft.put(joined(group, {"dones"}), ends.terminated.logical_or(ends.truncated).to(at::kLong));
    if (ends.has_terminated) draft.put(joined(group, {"terminations"}), ends.terminated);
    if (ends.has_truncated) draft.put(joined(group, {"truncations"}), ends.truncated);
    put_rest(draft, entries, group);
    put_about(draft, recording, i, group, {"name", "num_samples", "total_steps"});
    draft.set_attribute(group, "num_samples", Plain::of_integer(entries.steps()));
    total += entries.steps();
  }
  if (!entry_of(recording.metadata.node(), "env_args") &&
      !entry_of(recording.metadata.node(), "env")) {
    draft.set_attribute({"data"}, "env_args",
                        Plain::of_text(R"({"env_name": "unknown", "type": 2, "env_kwargs": {}})"));
  }
  draft.set_attribute({"data"}, "total", Plain::of_integer(total));
  draft.require_all(DatasetKind::robomimic);
  draft.write(path, options);
}

}  // namespace td::datasets
