#include "core/datasets/made_space.h"
#include "core/datasets/minari_text.h"
#include "core/datasets/save.h"
#include "core/datasets/source.h"
#include "core/datasets/space.h"
#include "core/formats/json_text.h"
#include "core/hdf5/group_file.h"
#include "core/io/folder.h"
#include "core/io/new_file.h"
#include "core/tree/bytes_value.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace td::datasets {

namespace {

bool same_values(const at::Tensor& one, const at::Tensor& other) {
  const at::Tensor a = one.contiguous(), b = other.contiguous();
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         (a.numel() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
}

// The rows and behind them the last of those that come after each; nothing is lost if these are the same but for that.
Rows with_last(const Rows& rows, const std::optional<Rows>& next, const std::string& shown,
               Draft& draft) {
  const std::int64_t count = rows.count();
  const bool fits = next && next->is_tensor() == rows.is_tensor() && count > 0;
  Rows result;
  if (rows.is_tensor()) {
    bool same = fits && same_values(rows.tensor.narrow(0, 1, count - 1),
                                    next->tensor.narrow(0, 0, count - 1));
    same = same && next->tensor.sizes() == rows.tensor.sizes() &&
           next->tensor.scalar_type() == rows.tensor.scalar_type();
    if (!same) draft.lose(shown);
    Sizes one(rows.tensor.sizes().begin(), rows.tensor.sizes().end());
    one[0] = 1;
    const at::Tensor last = same        ? next->tensor.narrow(0, count - 1, 1)
                            : count > 0 ? rows.tensor.narrow(0, count - 1, 1)
                                        : at::zeros(one, rows.tensor.scalar_type());
    result.tensor = at::cat({rows.tensor, last});
    return result;
  }
  const bool same =
      fits && std::equal(rows.values.begin() + 1, rows.values.end(), next->values.begin());
  if (!same) draft.lose(shown);
  result.values = rows.values;
  if (count > 0) result.values.push_back(same ? next->values.back() : rows.values.back());
  return result;
}

class Episode {
 public:
  Episode(Draft& draft, Entries& entries, OwnedKey group)
      : draft_(draft), entries_(entries), group_(std::move(group)) {}

  bool has_files = false;

  // Rows of T+1: those before each step, and the last of those behind.
  void longer(const char* from, const char* to, const Plain* given, MadeSpace* made) {
    for (const OwnedKey& key : entries_.below({from})) {
      const Rows rows = *entries_.take(key);
      const std::optional<Rows> next = entries_.take(joined({"next"}, key));
      const std::vector<std::string_view> path(key.begin(), key.end());
      put(key, to,
          with_last(rows, next,
                    "what follows the last step for " + show_path(path) +
                        ", unless \"next\" has the rows behind",
                    draft_),
          given, made);
    }
  }

  void put(const OwnedKey& key, const char* to, const Rows& rows, const Plain* given,
           MadeSpace* made) {
    OwnedKey place = joined(group_, {to});
    Space space(given);
    for (std::size_t i = 1; i < key.size(); ++i) {
      place.push_back(space.name_in_file(key[i]));
      // Spaces that are made of the values are dictionaries.
      if (made == nullptr && space.name_of_member(place.back()) != key[i]) {
        draft_.lose("the name of " + show_path(views_of(key)) +
                    ", which would be read as a member of a tuple");
      }
      space = space.below(key[i]);
    }
    if (!draft_.holds(rows, show_path(views_of(key)))) return;
    if (made != nullptr) made->add(OwnedKey(key.begin() + 1, key.end()), rows);
    has_files = has_files || (!rows.values.empty() && bytes_of(rows.values[0]));
    draft_.put(place, rows);
  }

 private:
  Draft& draft_;
  Entries& entries_;
  OwnedKey group_;
};

Plain given_space(const TensorDict& metadata, const char* name) {
  const Plain text = metadata_member(metadata, name);
  return text.is(Plain::text) ? read_json(text.characters(), name, 64, Repeated::kept) : Plain();
}

constexpr const char* values_file = "data/main_data.hdf5";
constexpr const char* metadata_file = "data/metadata.json";

class MinariWriter final : public SetWriter {
 public:
  explicit MinariWriter(SetPlan plan) : plan_(std::move(plan)), draft_(plan_.options) {
    folder_ = folder_for(plan_.path, DatasetKind::minari, metadata_file);
    if (plan_.options.resume && files::look(folder_).found != files::Found::nothing) resume();
    observations_ = known_space("observation_space", now_.observations);
    actions_ = known_space("action_space", now_.actions);
  }

  std::int64_t episodes() const override { return now_.totals.episodes; }

  void add(const TensorDict& rows, const TensorDict& about) override {
    State next = now_;
    if (plan_.each) draft_ = Draft(plan_.options);
    put(rows, about, next);
    if (plan_.each) {
      const std::string text = text_for(next);
      write();
      publish(text);
    } else {
      write();
    }
    now_ = std::move(next);
  }

  void finish() override {
    if (plan_.each && is_there_) return;
    if (plan_.each) draft_ = Draft(plan_.options);  // what a refused episode left
    const std::string text = text_for(now_);
    write();
    publish(text);
  }

 private:
  struct State {
    MinariTotals totals;
    EntryForms forms{DatasetKind::minari};
    MadeSpace observations, actions;
  };

  static const Plain* known(const Plain& space) {
    return space.is(Plain::object) ? &space : nullptr;
  }

  // That of the metadata. One that was made of values before grows with those that come.
  Plain known_space(const char* name, MadeSpace& made) const {
    Plain space = given_space(plan_.metadata, name);
    const Plain marks = metadata_member(plan_.metadata, made_mark);
    const auto is_name = [&](const Plain& mark) {
      return mark.is(Plain::text) && mark.characters() == name;
    };
    const bool grows = plan_.options.resume && marks.is(Plain::list) &&
                       std::any_of(marks.items().begin(), marks.items().end(), is_name);
    if (!grows) return space;
    made.add_space({}, space);
    return {};
  }

  void resume() {
    const std::string values = files::join(folder_, values_file);
    const auto set = open_minari(folder_, DatasetOptions());
    if (files::look(values).found != files::Found::file) {
      fail(Code::unsupported, quote(folder_),
           " is no data set of Minari in HDF5, which alone grows by episodes");
    }
    plan_.metadata = set->metadata();
    const Plain files_there = metadata_member(plan_.metadata, "jpeg_encoding");
    const Plain megabytes = metadata_member(plan_.metadata, "dataset_size");
    now_.totals.has_files = files_there.is(Plain::boolean) && files_there.truth();
    if (megabytes.is_number()) now_.totals.megabytes = megabytes.number();
    now_.totals.episodes = set->episodes;
    now_.forms.learn(*set);
    for (const std::int64_t length : set->lengths()) now_.totals.steps += length;
    const std::string next = "episode_" + std::to_string(set->episodes);
    for (const std::string& name : hdf5::GroupFile::open(values, 0, 0)->names("/"))
      if (name == next) uncounted_ = name;
    is_there_ = true;
  }

  void put(const TensorDict& rows, const TensorDict& about, State& next) {
    Entries entries(rows);
    const std::int64_t number = next.totals.episodes;
    next.forms.require(entries, number);
    const OwnedKey group{"episode_" + std::to_string(number)};
    draft_.put_group(group);
    Episode episode(draft_, entries, group);
    require_any(entries, "observation", observations_, joined(group, {"observations"}), number);
    require_any(entries, "action", actions_, joined(group, {"actions"}), number);
    episode.longer("observation", "observations", known(observations_), &next.observations);
    for (const OwnedKey& key : entries.below({"action"}))
      episode.put(key, "actions", *entries.take(key), known(actions_), &next.actions);
    for (const OwnedKey& key : entries.below({"next", "info"})) {
      const OwnedKey plain(key.begin() + 1, key.end());
      if (entries.find(plain) == nullptr && plain.size() > 1)
        episode.put(plain, "infos", *entries.take(key), nullptr, nullptr);
    }
    draft_.put_group(joined(group, {"infos"}));
    episode.longer("info", "infos", nullptr, nullptr);
    if (std::optional<Rows> rewards = entries.take({"next", "reward"})) {
      draft_.put(joined(group, {"rewards"}), without_one(*std::move(rewards)));
    } else {
      draft_.lose("rewards that are missing in episode " + std::to_string(number));
      draft_.put(joined(group, {"rewards"}), at::zeros({entries.steps()}, at::kDouble));
    }
    const Ends ends = take_ends(entries, draft_, number);
    draft_.put(joined(group, {"terminations"}), ends.terminated);
    draft_.put(joined(group, {"truncations"}), ends.truncated);
    put_rest(draft_, entries, group,
             {"observations", "actions", "infos", "rewards", "terminations", "truncations"});
    put_about(draft_, about, group, {"id", "total_steps", "num_samples"});
    draft_.set_attribute(group, "id", Plain::of_integer(number));
    draft_.set_attribute(group, "total_steps", Plain::of_integer(entries.steps()));
    next.totals.has_files = next.totals.has_files || episode.has_files;
    next.totals.steps += entries.steps();
    next.totals.megabytes += static_cast<double>(rows.nbytes()) / 1e6;
    next.totals.episodes += 1;
  }

  // Entries may be missing only if the space is an empty Dict or Tuple.
  void require_any(const Entries& entries, const char* name, const Plain& space,
                   const OwnedKey& group, std::int64_t episode) {
    if (entries.steps() == 0 || !entries.below({name}).empty()) return;
    const Space given(known(space));
    if (!given.is("Dict") && !given.is("Tuple"))
      fail_needed(DatasetKind::minari, std::string("an ") + name, episode);
    draft_.put_group(group);
  }

  // What JSON cannot hold lies in the file, where Minari looks at episodes only.
  void put_beside() {
    visit_paths(*plan_.metadata.node(), [&](Path key, const Value& value) {
      const Plain* plain = value.is_node() ? one_value(*value.node()) : nullptr;
      const OwnedKey place(key.begin(), key.end());
      if (!value.is_node()) {
        draft_.put(place, value.tensor());
      } else if (plain != nullptr && key.size() == 2 && key[0] == "attributes") {
        draft_.set_attribute({}, key[1], *plain);
      } else if (plain != nullptr && key.size() > 1) {
        draft_.put_value(place, *plain);
      }
    });
  }

  void write() {
    if (draft_.fails()) return draft_.drop();  // finish() says what is lost
    try {
      if (!file_ && is_there_) {
        file_ = hdf5::GrowingFile::open(files::join(folder_, values_file), /*there=*/true,
                                        /*in_new=*/false, hdf5_options(plan_));
      } else if (!file_) {
        target_.emplace(folder_);
        target_->make_folder("data");
        file_ = hdf5::GrowingFile::open(files::join(target_->path(), values_file), /*there=*/false,
                                        /*in_new=*/true, hdf5_options(plan_));
        put_beside();
      }
      if (!uncounted_.empty()) file_->remove(uncounted_);
      draft_.write_to(*file_);
    } catch (...) {
      forget();
      throw;
    }
  }

  // A set that is not in its place begins anew.
  void forget() noexcept {
    if (!target_) return;
    file_.reset();
    target_.reset();
  }

  // Fails if anything is lost that may not be.
  std::string text_for(const State& state) {
    MinariTotals totals = state.totals;
    totals.megabytes = std::round(totals.megabytes * 10) / 10;
    const auto text = [&](const Plain& given, const MadeSpace& made, const char* name) {
      const Plain told = metadata_member(plan_.metadata, name);
      if (given.is(Plain::object)) return std::string(told.characters());
      totals.made.push_back(Plain::of_text(name));
      return python_json(without_words(made.take(draft_)));
    };
    totals.observations = text(observations_, state.observations, "observation_space");
    totals.actions = text(actions_, state.actions, "action_space");
    draft_.require_all(DatasetKind::minari);
    return metadata_text(plan_.metadata, totals, folder_);
  }

  void publish(const std::string& text) {
    const bool durable = plan_.options.durable;
    if (is_there_) {
      return file_->publish(durable, /*goes_on=*/true, [&] {
        files::NewFile file(files::join(folder_, metadata_file));
        file.write(text.data(), text.size());
        file.commit(durable);
        uncounted_.clear();
      });
    }
    try {
      file_->publish(durable, /*goes_on=*/false);
      target_->write(metadata_file, text);
      target_->commit(durable);
    } catch (...) {
      forget();
      throw;
    }
    forget();
    is_there_ = true;
  }

  SetPlan plan_;
  Draft draft_;
  std::string folder_;
  Plain observations_, actions_;
  State now_;
  bool is_there_ = false;  // the set, in its place
  std::string uncounted_;  // an episode of a writer that was killed before it was finished
  std::optional<files::FolderReplacement> target_;  // until the set is in its place
  std::unique_ptr<hdf5::GrowingFile> file_;
};

}  // namespace

std::unique_ptr<SetWriter> write_minari(const SetPlan& plan) {
  return std::make_unique<MinariWriter>(plan);
}

}  // namespace td::datasets
