// Which kind of data set a path holds, by its folders, files and groups.
#include "core/datasets/group_source.h"
#include "core/formats/json_text.h"
#include "core/io/file_io.h"
#include "core/replay/replay_files.h"

#include <sys/stat.h>

#include <algorithm>

namespace td {

namespace {

using datasets::Source;

struct Opener {
  DatasetKind kind;
  std::unique_ptr<Source> (*open)(const std::string&, const DatasetOptions&);
};
constexpr Opener kind_openers[] = {{DatasetKind::minari, datasets::open_minari},
                                   {DatasetKind::lerobot, datasets::open_lerobot},
                                   {DatasetKind::robomimic, datasets::open_robomimic},
                                   {DatasetKind::d4rl, datasets::open_d4rl},
                                   {DatasetKind::torchrl, datasets::open_torchrl},
                                   {DatasetKind::ros, datasets::open_ros}};

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool has_file(const std::string& folder, const char* name) {
  return is_folder(folder) && files::look(files::join(folder, name)).found == files::Found::file;
}

DatasetKind kind_of_folder(const std::string& folder) {
  const std::string data = files::join(folder, "data");
  for (const char* name : {"metadata.json", "main_data.hdf5"}) {
    if (has_file(data, name) || has_file(folder, name)) return DatasetKind::minari;
  }
  if (replay_folder::is_one(folder) || replay_folder::ensemble_in(folder) ||
      has_file(folder, "meta.json"))
    return DatasetKind::torchrl;
  const bool lerobot = has_file(files::join(folder, "meta"), "info.json");
  return lerobot ? DatasetKind::lerobot : DatasetKind::detect;
}

DatasetKind kind_of_file(const std::string& path, const DatasetOptions& options) {
  if (datasets::is_ros(path)) return DatasetKind::ros;
  const auto file = datasets::open_groups(path, options);
  const std::vector<std::string> names = file->names("/");
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has("episode_0") && file->is_group("/episode_0")) return DatasetKind::minari;
  if (has("data") && file->is_group("/data")) return DatasetKind::robomimic;
  const bool rows = has("observations") && has("actions") && has("rewards") && has("terminals");
  if (rows || (has("virtual") && file->is_group("/virtual"))) return DatasetKind::d4rl;
  // A set without episodes.
  return file->attribute("/", "minari_version") ? DatasetKind::minari : DatasetKind::detect;
}

}  // namespace

DatasetKind datasets::kind_of(const std::string& path, const DatasetOptions& options) {
  const DatasetKind kind = is_folder(path) ? kind_of_folder(path) : kind_of_file(path, options);
  return kind == DatasetKind::detect && is_ros(path) ? DatasetKind::ros : kind;
}

std::unique_ptr<Source> datasets::open_source(const std::string& path,
                                              const DatasetOptions& given) {
  DatasetOptions options = given;
  if (path.empty()) fail(Code::io, "no such data set: the path is empty");
  const std::string name = files::absolute(path);
  if (options.kind == DatasetKind::detect) {
    options.kind = kind_of(name, options);
    if (options.kind == DatasetKind::detect) {
      fail(Code::format, quote(name),
           " is no data set of a kind that is known: Minari, LeRobot, robomimic, D4RL, TorchRL or "
           "ROS");
    }
  }
  for (const Opener& row : kind_openers) {
    if (row.kind == options.kind) return row.open(name, options);
  }
  fail(Code::invalid_argument, "kind ", static_cast<std::int32_t>(options.kind), " is unknown");
}

std::unique_ptr<Dataset> Dataset::open(const std::string& path, const DatasetOptions& options) {
  return std::make_unique<Dataset>(datasets::open_source(path, options));
}

}  // namespace td
