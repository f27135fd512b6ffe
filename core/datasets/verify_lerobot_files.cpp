#include "core/arrow/library.h"
#include "core/arrow/types.h"
#include "core/base/quote.h"
#include "core/datasets/verify_lerobot.h"
#include "core/datasets/verify_members.h"
#include "core/formats/json_text.h"

#include <algorithm>

namespace td::datasets {

namespace {

constexpr const char* info_name = "meta/info.json";

struct Needed {
  const char *column, *dtype;
};
constexpr Needed needed_columns[] = {{"timestamp", "float32"},
                                     {"frame_index", "int64"},
                                     {"episode_index", "int64"},
                                     {"index", "int64"},
                                     {"task_index", "int64"}};

void check_picture(Problems& problems, const std::string& name, const Plain& feature) {
  const Plain *shape = feature.find("shape"), *names = feature.find("names");
  if (shape == nullptr || shape->items().size() != 3) {
    return problems.note({info_name}, "the shape of ", quote(name),
                         " is not height, width, channels, which training needs");
  }
  const std::string_view last =
      names != nullptr && names->is(Plain::list) && names->items().size() == 3
          ? names->items()[2].characters()
          : std::string_view();
  if (last != "channels" && last != "channel") {
    problems.note({info_name}, "the names of ", quote(name),
                  " are not three with \"channels\" at the end, which training needs");
  }
}

bool is_whole(const SetFolder& folder, const std::string& file) {
  return folder.tail(file, 4) == "PAR1";
}

// pandas finds the texts by what the table says of its index.
void check_task_table(Problems& problems, const SetFolder& folder, const std::string& file) {
  const auto table = folder.table(file, FileFormat::parquet, 0);
  const auto text = arrow::metadata_value(table->schema().metadata, "pandas", arrow::Place());
  const Plain told = text ? inner_json(problems, file, Plain::of_text(*text), "pandas") : Plain();
  const Plain* index = told.is(Plain::object) ? told.find("index_columns", Plain::list) : nullptr;
  const bool has = index != nullptr && index->items().size() == 1 &&
                   index->items()[0].is(Plain::text) && table->has(index->items()[0].characters());
  if (!has) {
    problems.add({file},
                 "no column of it is the index: LeRobot takes the numbers of rows for tasks");
    return;
  }
  for (const char* name : {"column_indexes", "columns"}) {
    if (told.find(name) == nullptr)
      problems.add({file}, "what it tells pandas has no ", quote(name));
  }
}

}  // namespace

Plain check_info(Problems& problems, const SetFolder& folder) {
  Plain info;
  if (!problems.attempt({info_name}, [&] { info = folder.json(info_name); })) return {};
  if (!info.is(Plain::object)) {
    problems.add({info_name}, "is no JSON object");
    return {};
  }
  note_words(problems, info_name, info, "");
  member(problems, info_name, info, "codebase_version", Plain::text);
  for (const char* name : {"total_episodes", "total_frames"})
    member(problems, info_name, info, name, Plain::integer);
  const Plain* fps = info.find("fps");
  if (fps == nullptr || !fps->is_number() || !(fps->number() > 0))
    problems.add({info_name}, "\"fps\" is ", fps == nullptr ? "missing" : json_text(*fps),
                 "; it should be a number above 0");
  member(problems, info_name, info, "splits", Plain::object, false);
  if (member(problems, info_name, info, "features", Plain::object) != nullptr)
    check_features(problems, info);
  return info;
}

void check_features(Problems& problems, const Plain& info) {
  const Plain& features = *info.find("features");
  for (const Needed& one : needed_columns) {
    const Plain* found = features.find(one.column);
    if (found == nullptr) {
      problems.add({info_name}, "there is no feature ", quote(one.column));
      continue;
    }
    const Plain *dtype = found->find("dtype", Plain::text), *shape = found->find("shape");
    const bool same = dtype != nullptr && dtype->characters() == one.dtype && shape != nullptr &&
                      *shape == Plain::of_list({Plain::of_integer(1)});
    if (!same)
      problems.add({info_name}, "the feature ", quote(one.column), " should be ", one.dtype,
                   " of the shape [1]");
  }
  for (std::size_t i = 0; i < features.items().size(); ++i) {
    const std::string name(features.name(i));
    const Plain& feature = features.items()[i];
    const Plain *dtype = feature.find("dtype", Plain::text), *shape = feature.find("shape");
    if (name.find('/') != std::string::npos)
      problems.add({info_name}, "the feature ", quote(name), " has a slash in its name");
    if (shape != nullptr && (shape->items().empty() || shape->items().size() > 5))
      problems.add({info_name}, "the feature ", quote(name), " has ", shape->items().size(),
                   " dimensions; LeRobot has 1 to 5");
    if (dtype != nullptr && (dtype->characters() == "image" || dtype->characters() == "video"))
      check_picture(problems, name, feature);
  }
}

namespace {

// A writer that was killed leaves files which nothing counts yet.
void check_uncounted(Problems& problems, const SetFolder& folder, const Plain& info,
                     const char* place, const char* total, const char* what) {
  const Plain* told = info.find(total, Plain::integer);
  if (told == nullptr || told->integral() <= 0) return;
  std::int64_t rows = 0;
  problems.attempt({place}, [&] {
    for (const std::string& file : folder.files(place, 1, ".parquet")) {
      if (rows == told->integral())
        problems.add({file}, "has ", what, " that ", total, " of meta/info.json does not count");
      else if (is_whole(folder, file))
        rows += folder.table(file, FileFormat::parquet, 0)->rows();
    }
  });
}

}  // namespace

void check_tables(Problems& problems, const SetFolder& folder, const Plain& info) {
  const Plain* version = info.find("codebase_version", Plain::text);
  const bool v3 = version != nullptr && version->characters().substr(0, 2) == "v3";
  std::vector<std::string> files;
  for (const char* place : {"data", "meta/episodes"}) {
    if (place == std::string_view("meta/episodes") && !v3) continue;
    problems.attempt({place}, [&] {
      for (const std::string& file : folder.files(place, 1, ".parquet")) files.push_back(file);
    });
  }
  if (v3) files.emplace_back("meta/tasks.parquet");
  bool tasks = false;
  for (const std::string& file : files) {
    problems.attempt({file}, [&] {
      const bool whole = is_whole(folder, file);
      if (!whole) {
        problems.add({file},
                     "has no footer: the program that wrote it has ended before it closed the "
                     "file, or it was cut");
      }
      tasks = tasks || (whole && file == "meta/tasks.parquet");
    });
  }
  if (!v3) {
    for (const char* name : {"meta/tasks.jsonl", "meta/episodes.jsonl"}) {
      if (!folder.has(name)) problems.add({name}, "is missing");
    }
    return;
  }
  arrow::library(quote(problems.path()) + ", a data set of LeRobot,");
  check_uncounted(problems, folder, info, "meta/episodes", "total_episodes", "episodes");
  check_uncounted(problems, folder, info, "data", "total_frames", "rows");
  if (tasks)
    problems.attempt({"meta/tasks.parquet"},
                     [&] { check_task_table(problems, folder, "meta/tasks.parquet"); });
}

}  // namespace td::datasets
