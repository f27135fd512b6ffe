// core/datasets/lerobot_meta.h: what LeRobot's data sets say of themselves, and where their rows are: the folder "meta".
#pragma once

#include "core/datasets/lerobot.h"
#include "core/datasets/lerobot_mend.h"
#include "core/datasets/set_folder.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace td::datasets {

// Where a video has an episode.
struct VideoPlace {
  std::string file;
  double from = 0;  // seconds
};

// Thread-safe after its construction.
class LeRobotMeta {
 public:
  // Code::format for metadata that contradict themselves or each other. With `mended`, the tables count instead, and
  // `mended` gets what differs.
  LeRobotMeta(const std::string& path, std::uint64_t max_bytes, MendFn mended = {});

  const SetFolder& folder() const noexcept { return folder_; }
  const Plain& info() const noexcept { return info_; }
  const std::vector<Feature>& features() const noexcept { return features_; }
  bool is_v3() const noexcept { return v3_; }
  const std::string& version() const noexcept { return version_; }
  std::string where() const { return folder_.where("meta/info.json"); }

  // The number of the first row of each episode, and of the end.
  const std::vector<std::int64_t>& starts() const noexcept { return starts_; }
  // Where its rows begin in all tables.
  std::int64_t first_row(std::int64_t episode) const;
  // Tables of rows, how many rows one of them says that it has, and that one.
  std::vector<std::string> files() const;
  std::int64_t rows_of(const std::string& relative) const;
  std::shared_ptr<arrow::TableFile> table(const std::string& relative) const;
  bool is_mended() const noexcept { return mend_ != nullptr; }

  const std::vector<Plain>& tasks() const noexcept { return tasks_; }  // texts
  const std::vector<Plain>& subtasks() const noexcept { return subtasks_; }

  TensorDict metadata(bool without_videos) const;  // lists those that are left out
  TensorDict metadata(std::int64_t episode) const;

  VideoPlace video_of(const Feature& feature, std::int64_t episode) const;

  // The path of an episode in the set, by "data_path"; up to version 2.1.
  std::string file_of(std::int64_t episode) const;

 private:
  std::int64_t number(const char* name) const;  // of info.json; -1 without it
  void read_version();
  void mend();
  void mend_tasks(const std::map<std::int64_t, Plain>& told);
  void mend_videos(std::map<std::int64_t, Plain> told);
  std::map<std::int64_t, Plain> told_episodes() const;
  void read_tables();
  void read_lines();
  std::vector<Plain> task_table(const std::string& relative) const;
  void add_episodes(arrow::TableFile& table);
  void add_length(std::int64_t length, const std::string& where);
  std::string path_of(const char* pattern,
                      const std::vector<std::pair<std::string_view, std::int64_t>>& numbers,
                      std::string_view video = {}) const;
  std::vector<std::pair<std::string_view, std::int64_t>> by_episode(std::int64_t episode) const;

  // The places of a video in version 3.0, one for each episode.
  struct Places {
    std::vector<std::int64_t> chunks, files;
    std::vector<double> from;
    std::vector<std::string> found;  // of a mended set: the file of each
  };

  SetFolder folder_;
  std::uint64_t max_bytes_;
  MendFn mended_;
  std::unique_ptr<const LeRobotMend> mend_;
  Plain info_, stats_;
  bool v3_ = false;
  std::string version_;
  std::vector<Feature> features_;
  std::vector<Plain> tasks_, subtasks_;
  std::vector<std::int64_t> starts_{0};
  std::vector<Plain> lines_;          // up to version 2.1: what each episode says
  std::vector<std::string> tables_;   // of episodes
  std::vector<std::int64_t> firsts_;  // the first episode of each
  std::map<std::string, Places> places_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<arrow::TableFile> table_;  // the last one that was read
  mutable std::size_t table_number_ = 0;
};

// A path of info.json with numbers in place of "{episode_index:06d}", and `video` of "{video_key}". Code::format for other
// names.
std::string filled_path(std::string_view pattern,
                        const std::vector<std::pair<std::string_view, std::int64_t>>& numbers,
                        const std::string& where, std::string_view video = {});

}  // namespace td::datasets
