#include "core/datasets/view.h"

#include "core/datasets/lerobot.h"
#include "core/datasets/row_forms.h"
#include "core/datasets/save.h"
#include "core/datasets/source.h"
#include "core/formats/json_text.h"
#include "core/keys/entries.h"
#include "core/shape/join.h"
#include "core/tree/non_tensor.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <set>

namespace td {

namespace datasets {

namespace {

using SourcePtr = std::shared_ptr<const Source>;

class View final : public Source {
 public:
  View(std::vector<SourcePtr> sources, const DatasetView& view)
      : sources_(std::move(sources)), without_(view.without), same_name_(view.same_name) {
    kind = sources_[0]->kind;
    version = sources_[0]->version;
    std::int64_t all = 0;
    for (const SourcePtr& source : sources_) {
      firsts_.push_back(all);
      all += source->episodes;
    }
    for (const std::int64_t number : view.episodes) {
      if (number < 0 || number >= all)
        fail(Code::index, "episode ", number, " of ", where(), ", which has ", all, " episodes");
      const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), number);
      const auto set = static_cast<std::size_t>(after - firsts_.begin() - 1);
      chosen_.push_back({set, number - firsts_[set]});
    }
    episodes = static_cast<std::int64_t>(chosen_.size());
    require_same();
    require_keys();
    if (kind == DatasetKind::lerobot) number_tasks();
  }

  std::string where() const override { return sources_[0]->where(); }

  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < episodes; ++i) lengths.push_back(length(i));
    return lengths;
  }
  std::int64_t length(std::int64_t episode) const override {
    const Chosen& one = chosen(episode);
    return sources_[one.set]->length(one.episode);
  }

  TensorDict read(const std::vector<Steps>& steps) const override {
    std::vector<TensorDict> parts;
    for (std::size_t at = 0; at < steps.size();) {
      const std::size_t set = chosen(steps[at].episode).set;
      std::vector<Steps> here;
      std::vector<at::Tensor> numbers;
      for (; at < steps.size() && chosen(steps[at].episode).set == set; ++at) {
        here.push_back({chosen(steps[at].episode).episode, steps[at].from, steps[at].count});
        numbers.push_back(at::full({steps[at].count}, steps[at].episode, at::kLong));
      }
      TensorDict rows = sources_[set]->read(here);
      rows.set({"episode"}, at::cat(numbers));
      if (set < task_numbers_.size()) renumber(rows, set);
      parts.push_back(std::move(rows));
    }
    if (parts.empty()) parts.push_back(sources_[0]->read({}));
    return without(parts.size() == 1 ? parts[0] : cat(parts, 0));
  }

  std::vector<HeldVideo> held_videos(std::int64_t episode, const TensorDict& rows) const override {
    const Chosen& one = chosen(episode);
    std::vector<HeldVideo> held = sources_[one.set]->held_videos(one.episode, rows);
    const auto is_left_out = [&](const HeldVideo& video) {
      const OwnedKey key = key_of_column(video.column);
      return std::find(without_.begin(), without_.end(), key) != without_.end();
    };
    held.erase(std::remove_if(held.begin(), held.end(), is_left_out), held.end());
    return held;
  }

  TensorDict metadata() const override {
    if (kind == DatasetKind::torchrl) return TensorDict();  // where the cursor of the buffer was
    TensorDict result = sources_[0]->metadata();
    const auto set = [&](const char* name, Plain value) {
      if (result.kind_of({name}) != EntryKind::none)
        result.set_non_tensor({name}, std::move(value));
    };
    const auto remove = [&](const char* name) {
      if (result.kind_of({name}) != EntryKind::none) result.remove({name});
    };
    std::int64_t steps = 0;
    for (std::int64_t i = 0; i < episodes; ++i) steps += length(i);
    for (const char* name : {"total_steps", "total_frames", "total"})
      set(name, Plain::of_integer(steps));
    set("total_episodes", Plain::of_integer(episodes));
    put_videos(result);
    if (!same_name_) remove("dataset_id");
    remove("stats");
    remove("splits");
    if (kind == DatasetKind::lerobot) {
      set("total_tasks", Plain::of_integer(static_cast<std::int64_t>(tasks_.size())));
      if (!tasks_.empty()) result.set_non_tensor({"tasks"}, Plain::of_list(tasks_));
    }
    if (kind == DatasetKind::robomimic) put_masks(result);
    return result;
  }

  TensorDict metadata(std::int64_t episode) const override {
    const Chosen& one = chosen(episode);
    TensorDict result = sources_[one.set]->metadata(one.episode);
    for (const char* name : {"id", "episode_index"}) {
      if (result.kind_of({name}) != EntryKind::none)
        result.set_non_tensor({name}, Plain::of_integer(episode));
    }
    if (kind == DatasetKind::robomimic)
      result.set_non_tensor({"name"}, Plain::of_text(demo(episode)));
    return result;
  }

 private:
  struct Chosen {
    std::size_t set;
    std::int64_t episode;
  };
  const Chosen& chosen(std::int64_t episode) const {
    return chosen_[static_cast<std::size_t>(episode)];
  }
  static std::string demo(std::int64_t episode) { return "demo_" + std::to_string(episode); }

  TensorDict without(const TensorDict& rows) const {
    std::vector<std::vector<std::string_view>> views;
    std::vector<Path> paths;
    for (const OwnedKey& key : without_) views.push_back(views_of(key));
    for (const auto& view : views) paths.emplace_back(view);
    return paths.empty() ? rows : exclude(rows, paths);
  }

  TensorDict structure(const Source& source) const {
    return source.read(source.episodes == 0 ? std::vector<Steps>() : std::vector<Steps>{{0, 0, 0}});
  }

  void require_same() const {
    if (sources_.size() == 1) return;
    const auto first = row_forms(without(structure(*sources_[0])));
    for (std::size_t i = 1; i < sources_.size(); ++i) {
      if (sources_[i]->episodes == 0) continue;
      const auto here = row_forms(without(structure(*sources_[i])));
      for (const auto& one : here) {
        const auto found = first.find(one.first);
        if (found != first.end() && found->second == one.second) continue;
        fail(Code::format, sources_[i]->where(), ": ", show_path(views_of(one.first)), " is ",
             one.second, found == first.end() ? ", and is missing" : ", and " + found->second,
             " in ", where());
      }
      for (const auto& one : first) {
        if (here.count(one.first) == 0) {
          fail(Code::format, sources_[i]->where(), " has no ", show_path(views_of(one.first)),
               ", which is in ", where());
        }
      }
    }
  }

  // Videos that are beside the rows, but for those that are left out.
  std::vector<Plain> videos(bool all) const {
    std::vector<Plain> kept;
    const Plain told = metadata_member(sources_[0]->metadata(), "videos");
    for (const Plain& video : told.items()) {
      const OwnedKey key = key_of_column(video.characters());
      if (all || std::find(without_.begin(), without_.end(), key) == without_.end())
        kept.push_back(video);
    }
    return kept;
  }
  void put_videos(TensorDict& result) const {
    if (result.kind_of({"videos"}) == EntryKind::none) return;
    result.remove({"videos"});
    if (std::vector<Plain> kept = videos(false); !kept.empty())
      result.set_non_tensor({"videos"}, Plain::of_list(std::move(kept)));
  }

  void require_keys() const {
    const TensorDict all = structure(*sources_[0]);
    const std::vector<Plain> beside = videos(true);
    for (const OwnedKey& key : without_) {
      const bool is_video = std::any_of(beside.begin(), beside.end(), [&](const Plain& video) {
        return key_of_column(video.characters()) == key;
      });
      if (!is_video && all.kind_of(views_of(key)) == EntryKind::none)
        fail(Code::key_not_found, where(), " has no entry ", show_path(views_of(key)));
      if (key == OwnedKey{"episode"})
        fail(Code::invalid_argument, "\"episode\" tells the episodes apart, and stays");
    }
  }

  // Tasks of all sets, each once.
  void number_tasks() {
    std::map<std::string, std::int64_t> numbers;
    for (const SourcePtr& source : sources_) {
      task_numbers_.emplace_back();
      const Plain tasks = metadata_member(source->metadata(), "tasks");
      for (const Plain& text : tasks.items()) {
        const auto added = numbers.emplace(text.characters(), numbers.size());
        if (added.second) tasks_.push_back(text);
        task_numbers_.back().push_back(added.first->second);
      }
    }
  }

  void renumber(TensorDict& rows, std::size_t set) const {
    const at::Tensor* stored = rows.stored({"task_index"});
    const auto texts = static_cast<std::int64_t>(task_numbers_[set].size());
    if (stored == nullptr || texts == 0) return;
    const at::Tensor table = at::tensor(task_numbers_[set], at::kLong);
    rows.set({"task_index"}, table.index({stored->to(at::kLong)}).to(stored->scalar_type()));
  }

  // Lists of names of demonstrations, by the names that they have now.
  void put_masks(TensorDict& result) const {
    std::map<std::string, std::vector<std::string>> masks;
    std::vector<std::string> before;
    for (const Chosen& one : chosen_) {
      const Plain name = metadata_member(sources_[one.set]->metadata(one.episode), "name");
      before.emplace_back(name.characters());
    }
    for (std::size_t set = 0; set < sources_.size(); ++set) {
      const TensorDict metadata = sources_[set]->metadata();
      if (metadata.kind_of({"mask"}) != EntryKind::dict) continue;
      const TensorDict found = metadata.get_dict({"mask"});
      visit_paths(*found.node(), [&](Path path, const Value& value) {
        const Plain* names = value.is_node() ? one_value(*value.node()) : nullptr;
        if (path.size() != 1 || names == nullptr) return;
        std::vector<std::string>& list = masks[std::string(path[0])];
        std::set<std::string_view> listed;
        for (const Plain& name : names->items()) listed.insert(name.characters());
        for (std::int64_t i = 0; i < episodes; ++i) {
          if (chosen(i).set != set) continue;
          if (listed.count(before[static_cast<std::size_t>(i)]) != 0) list.push_back(demo(i));
        }
      });
    }
    if (result.kind_of({"mask"}) != EntryKind::none) result.remove({"mask"});
    for (const auto& mask : masks) {
      std::vector<Plain> names;
      for (const std::string& name : mask.second) names.push_back(Plain::of_text(name));
      if (!names.empty())
        result.set_non_tensor({"mask", mask.first}, Plain::of_list(std::move(names)));
    }
  }

  std::vector<SourcePtr> sources_;
  std::vector<OwnedKey> without_;
  bool same_name_;
  std::vector<std::int64_t> firsts_;  // the number of the first episode of each set
  std::vector<Chosen> chosen_;
  std::vector<Plain> tasks_;
  std::vector<std::vector<std::int64_t>> task_numbers_;  // of each set, by the old ones
};

}  // namespace

}  // namespace datasets

std::unique_ptr<Dataset> view_of(const std::vector<const Dataset*>& sets, const DatasetView& view) {
  if (sets.empty()) fail(Code::invalid_argument, "a view is made of one data set or more");
  std::vector<datasets::SourcePtr> sources;
  for (const Dataset* set : sets) sources.push_back(set->source());
  return std::make_unique<Dataset>(std::make_unique<datasets::View>(std::move(sources), view));
}

}  // namespace td
