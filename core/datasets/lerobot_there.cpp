#include "core/datasets/lerobot_there.h"

#include "core/base/quote.h"
#include "core/datasets/lerobot_info.h"
#include "core/datasets/lerobot_meta.h"
#include "core/datasets/source.h"
#include "core/formats/json_text.h"

#include <algorithm>

namespace td::datasets {

namespace {

// How many files there are up to that of the last episode, by its numbers of chunk and file.
std::int64_t files_until(const TensorDict& last, const OwnedKey& place, const std::string& where) {
  const auto number = [&](const char* name) {
    OwnedKey key = place;
    key.emplace_back(name);
    Plain found = metadata_member(last, key[0]);
    for (std::size_t i = 1; i < key.size(); ++i) {
      const Plain* below = found.find(key[i]);
      found = below == nullptr ? Plain() : Plain(*below);
    }
    const bool good = found.is(Plain::integer) && found.integral() >= 0;
    if (!good) fail(Code::unsupported, where, " does not tell the ", name, " of its last episode");
    return found.integral();
  };
  const std::int64_t chunk = number("chunk_index"), file = number("file_index");
  if (file >= lerobot_chunks_size || chunk >= std::int64_t{1} << 32)
    fail(Code::unsupported, where, " has file ", file, " of chunk ", chunk);
  return chunk * lerobot_chunks_size + file + 1;
}

SetStats stats_in(const TensorDict& metadata, const std::string& where) {
  SetStats stats;
  const Plain told = metadata_member(metadata, "stats");
  for (std::size_t i = 0; told.is(Plain::object) && i < told.items().size(); ++i)
    stats.emplace_back(std::string(told.name(i)), FeatureStats::read(told.items()[i], where));
  return stats;
}

// The rows of the set, which have a number each; -1: not told.
std::int64_t counted(const SetStats& stats) {
  for (const auto& feature : stats) {
    if (feature.first == "index") return feature.second.count();
  }
  return -1;
}

SetStats stats_of_episodes(const Source& set, const std::string& where) {
  StatsOfEpisodes all;
  for (std::int64_t i = 0; i < set.episodes; ++i) all.add(stats_in(set.metadata(i), where));
  return all.take();
}

// A set with files of other names would have more rows in between than its index tells.
void require_names(const std::vector<std::string>& files, const char* pattern, std::int64_t count,
                   const std::string& where) {
  const auto named = [&](std::int64_t number) {
    return filled_path(pattern,
                       {{"chunk_index", number / lerobot_chunks_size},
                        {"file_index", number % lerobot_chunks_size}},
                       where);
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    if (number > count || files[i] != named(number)) {
      fail(Code::unsupported, where, " cannot grow: its file ", quote(files[i]), " is not ",
           quote(named(std::min(number, count))));
    }
  }
}

}  // namespace

LeRobotThere LeRobotThere::read(const std::string& folder) {
  const DatasetOptions options;
  const std::unique_ptr<Source> set = open_lerobot(folder, options);
  const LeRobotMeta meta(folder, options.max_bytes);
  const std::string where = meta.where();
  LeRobotThere there;
  there.metadata = set->metadata();
  there.info = meta.info();
  there.episodes = set->episodes;
  there.rows = meta.starts().back();
  const auto is = [&](const char* name, const Plain& value) {
    const Plain* found = there.info.find(name);
    return found != nullptr && *found == value;
  };
  if (!meta.is_v3() || !is("data_path", Plain::of_text(lerobot_data_path)) ||
      !is("chunks_size", Plain::of_integer(lerobot_chunks_size))) {
    fail(Code::unsupported, where, " cannot grow: ", meta.version(),
         meta.is_v3() ? " with other paths or chunks than LeRobot's" : "; v3.0 grows",
         ": convert it");
  }
  if (there.episodes > 0) {
    const TensorDict last = set->metadata(there.episodes - 1);
    there.data_files = files_until(last, {"data"}, where);
    there.lists = files_until(last, {"meta", "episodes"}, where);
    for (const Feature& feature : meta.features()) {
      if (feature.holds != Feature::video) continue;
      there.videos.emplace_back(feature.column,
                                files_until(last, {"videos", feature.column}, where));
    }
  }
  require_names(meta.folder().files("data", 1, ".parquet"), lerobot_data_path, there.data_files,
                where);
  require_names(meta.folder().files("meta/episodes", 1, ".parquet"), lerobot_episodes_path,
                there.lists, where);
  there.stats = stats_in(there.metadata, where);
  // A writer that was killed may have counted one more.
  if (there.episodes > 0 && counted(there.stats) != there.rows)
    there.stats = stats_of_episodes(*set, where);
  if (there.episodes > 0 && there.stats.empty())
    fail(Code::unsupported, where, " cannot grow: the set has no statistics; repair it");
  return there;
}

void LeRobotThere::require_same(const Plain& more) const {
  const Plain &before = *info.find("features"), &now = *more.find("features");
  const auto differs = [](const Plain* one, const Plain* other) {
    return one == nullptr || other == nullptr || !(*one == *other);
  };
  using Says = const char* const(&)[2];
  const auto check = [&](const Plain& from, const Plain& in, Says says) {
    for (std::size_t i = 0; i < from.items().size(); ++i) {
      const Plain* other = in.find(from.name(i));
      if (other == nullptr || differs(from.items()[i].find("dtype"), other->find("dtype")) ||
          differs(from.items()[i].find("shape"), other->find("shape"))) {
        fail(Code::unsupported, "the column ", quote(from.name(i)), says[0],
             json_text(from.items()[i]), ", and ", says[1], " it is ",
             other == nullptr ? "missing" : json_text(*other), ": all episodes have the same");
      }
    }
  };
  check(now, before, {" of the episode is ", "in the set"});
  check(before, now, {" of the set is ", "in the episode"});
  const Plain *rate = info.find("fps"), *other_rate = more.find("fps");
  if (rate == nullptr || rate->number() != other_rate->number())
    fail(Code::unsupported, "fps is ", rate == nullptr ? "missing" : json_text(*rate),
         " in the set, and ", json_text(*other_rate), " of the episode");
  const Plain *marks = info.find(scalars_mark), *others = more.find(scalars_mark);
  if ((marks != nullptr || others != nullptr) && differs(marks, others))
    fail(Code::unsupported, "numbers without a dimension are ",
         marks == nullptr ? "none" : json_text(*marks), " in the set, and ",
         others == nullptr ? "none" : json_text(*others), " in the episode");
}

}  // namespace td::datasets
