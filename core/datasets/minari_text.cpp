#include "core/datasets/minari_text.h"

#include "core/datasets/source.h"
#include "core/formats/json_text.h"
#include "core/tree/walk.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace td::datasets {

namespace {

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

}  // namespace

std::string metadata_text(const TensorDict& metadata, const MinariTotals& totals,
                          const std::string& folder) {
  static constexpr std::string_view ours[] = {"total_episodes",    "total_steps",   "data_format",
                                              "observation_space", "action_space",  "dataset_size",
                                              "minari_version",    "jpeg_encoding", "total",
                                              "dataset_id",        made_mark};
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
  if (!totals.made.empty()) add(made_mark, Plain::of_list(totals.made));
  const Plain id = metadata_member(metadata, "dataset_id");
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

}  // namespace td::datasets
