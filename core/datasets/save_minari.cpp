#include "core/datasets/made_space.h"
#include "core/datasets/save.h"
#include "core/datasets/space.h"
#include "core/formats/json_text.h"
#include "core/io/folder.h"
#include "core/tree/bytes_value.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cctype>
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
      place.push_back(space.is("Tuple") ? "_index_" + key[i] : key[i]);
      space = space.below(key[i]);
    }
    if (made != nullptr) made->add(OwnedKey(key.begin() + 1, key.end()), rows);
    has_files = has_files || (!rows.values.empty() && bytes_of(rows.values[0]));
    draft_.put(place, rows);
  }

 private:
  Draft& draft_;
  Entries& entries_;
  OwnedKey group_;
};

Plain member(const TensorDict& metadata, std::string_view name) {
  const std::optional<Value> found = entry_of(metadata.node(), name);
  const Plain* value = found && found->is_node() ? one_value(*found->node()) : nullptr;
  return value == nullptr ? Plain() : *value;
}

Plain given_space(const TensorDict& metadata, const char* name) {
  const Plain text = member(metadata, name);
  return text.is(Plain::text) ? read_json(text.characters(), name, 64, Repeated::kept) : Plain();
}

// "name-v0", as each set must be called.
std::string id_of(const std::string& folder) {
  std::string name = folder.substr(folder.rfind('/') + 1);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_') c = '_';
  }
  const std::size_t version = name.rfind("-v");
  const bool has = version != std::string::npos && version > 0 && version + 2 < name.size() &&
                   name.find_first_not_of("0123456789", version + 2) == std::string::npos;
  return has ? name : name + "-v0";
}

struct Totals {
  std::int64_t episodes = 0, steps = 0;
  double megabytes = 0;
  bool has_files = false;
  std::string observations, actions;  // spaces
};

std::string metadata_text(const TensorDict& metadata, const Totals& totals,
                          const std::string& folder) {
  static constexpr std::string_view ours[] = {"total_episodes",    "total_steps",   "data_format",
                                              "observation_space", "action_space",  "dataset_size",
                                              "minari_version",    "jpeg_encoding", "total",
                                              "dataset_id"};
  PlainBuilder all;
  const auto add = [&](std::string_view name, Plain value) {
    all.name(name);
    all.add(std::move(value));
  };
  all.open();
  add("total_episodes", Plain::of_integer(totals.episodes));
  add("total_steps", Plain::of_integer(totals.steps));
  add("data_format", Plain::of_text("hdf5"));
  add("observation_space", Plain::of_text(totals.observations));
  add("action_space", Plain::of_text(totals.actions));
  add("dataset_size", Plain::of_real(totals.megabytes));
  add("jpeg_encoding", Plain::of_truth(totals.has_files));
  add("minari_version", Plain::of_text("0.5.4"));
  const Plain id = member(metadata, "dataset_id");
  add("dataset_id", id.is(Plain::text) ? id : Plain::of_text(id_of(folder)));
  visit_paths(*metadata.node(), [&](Path path, const Value& value) {
    const Plain* plain = value.is_node() ? one_value(*value.node()) : nullptr;
    if (path.size() != 1 || plain == nullptr) return;
    if (std::find(std::begin(ours), std::end(ours), path[0]) != std::end(ours)) return;
    const bool list = plain->is(Plain::text) && (path[0] == "author" || path[0] == "author_email");
    add(path[0], list ? Plain::of_list({*plain}) : *plain);
  });
  all.close(true);
  return python_json(all.take());
}

}  // namespace

void save_minari(const Recording& recording, const std::string& path,
                 const DatasetSaveOptions& options) {
  Draft draft(options.lossy);
  const Plain observations = given_space(recording.metadata, "observation_space");
  const Plain actions = given_space(recording.metadata, "action_space");
  const auto known = [](const Plain& space) { return space.is(Plain::object) ? &space : nullptr; };
  MadeSpace made_observations, made_actions;
  Totals totals;
  for (std::size_t i = 0; i < recording.episodes.size(); ++i) {
    Entries entries(recording.episodes[i]);
    const OwnedKey group{"episode_" + std::to_string(i)};
    draft.put_group(group);
    Episode episode(draft, entries, group);
    episode.longer("observation", "observations", known(observations), &made_observations);
    for (const OwnedKey& key : entries.below({"action"}))
      episode.put(key, "actions", *entries.take(key), known(actions), &made_actions);
    for (const OwnedKey& key : entries.below({"next", "info"})) {
      const OwnedKey plain(key.begin() + 1, key.end());
      if (entries.find(plain) == nullptr && plain.size() > 1)
        episode.put(plain, "infos", *entries.take(key), nullptr, nullptr);
    }
    draft.put_group(joined(group, {"infos"}));
    episode.longer("info", "infos", nullptr, nullptr);
    const auto number = static_cast<std::int64_t>(i);
    if (std::optional<Rows> rewards = entries.take({"next", "reward"})) {
      draft.put(joined(group, {"rewards"}), without_one(*std::move(rewards)));
    } else {
      draft.lose("rewards that are missing in episode " + std::to_string(i));
      draft.put(joined(group, {"rewards"}), at::zeros({entries.steps()}, at::kDouble));
    }
    const Ends ends = take_ends(entries, draft, number);
    draft.put(joined(group, {"terminations"}), ends.terminated);
    draft.put(joined(group, {"truncations"}), ends.truncated);
    put_rest(draft, entries, group);
    put_about(draft, recording, i, group, {"id", "total_steps", "num_samples"});
    draft.set_attribute(group, "id", Plain::of_integer(number));
    draft.set_attribute(group, "total_steps", Plain::of_integer(entries.steps()));
    totals.has_files = totals.has_files || episode.has_files;
    totals.steps += entries.steps();
    totals.megabytes += static_cast<double>(recording.episodes[i].nbytes()) / 1e6;
  }
  totals.episodes = static_cast<std::int64_t>(recording.episodes.size());
  totals.megabytes = std::round(totals.megabytes * 10) / 10;
  const auto space_text = [&](const Plain& given, const MadeSpace& made, const char* name) {
    const Plain text = member(recording.metadata, name);
    return given.is(Plain::object) ? std::string(text.characters()) : python_json(made.take(draft));
  };
  totals.observations = space_text(observations, made_observations, "observation_space");
  totals.actions = space_text(actions, made_actions, "action_space");
  // What JSON cannot hold lies in the file, where Minari looks at episodes only.
  visit_paths(*recording.metadata.node(), [&](Path key, const Value& value) {
    const Plain* plain = value.is_node() ? one_value(*value.node()) : nullptr;
    const OwnedKey place(key.begin(), key.end());
    if (!value.is_node()) {
      draft.put(place, value.tensor());
    } else if (plain != nullptr && key.size() == 2 && key[0] == "attributes") {
      draft.set_attribute({}, key[1], *plain);
    } else if (plain != nullptr && key.size() > 1) {
      draft.put_value(place, *plain);
    }
  });
  draft.require_all(DatasetKind::minari);

  const std::string folder = folder_for(path, DatasetKind::minari, "data/metadata.json");
  files::FolderReplacement target(folder);
  target.make_folder("data");
  draft.write(files::join(target.path(), "data/main_data.hdf5"), options, true);
  target.write("data/metadata.json", metadata_text(recording.metadata, totals, folder));
  target.commit(options.durable);
}

}  // namespace td::datasets
