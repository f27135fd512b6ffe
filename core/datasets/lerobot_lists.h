// core/datasets/lerobot_lists.h: what the folder "meta" of LeRobot lists, as it is written: episodes, tasks and statistics.
#pragma once

#include "core/datasets/lerobot_plan.h"
#include "core/datasets/lerobot_stats.h"
#include "core/datasets/lerobot_video_files.h"
#include "core/datasets/set_target.h"

#include <string>
#include <vector>

namespace td::datasets {

struct ListedEpisode {
  std::int64_t number, first_row, steps;
  std::int64_t file;                // of its rows
  std::vector<std::int64_t> tasks;  // each once
  SetStats stats;
};

class LeRobotLists {
 public:
  explicit LeRobotLists(bool v21) : v21_(v21) {}
  // Of a set that is there: how many files it has, and its statistics.
  void go_on(std::int64_t files, SetStats all) {
    files_ = files;
    if (!all.empty()) stats_.add(std::move(all));
  }

  void add(ListedEpisode episode, const std::vector<std::string>& tasks);
  bool is_full() const noexcept;  // episodes that wait are enough for a file
  bool is_written() const noexcept { return waiting_.empty() && files_ > 0; }

  // Episodes that wait, as a file of their own.
  void write_episodes(SetTarget& target, const std::vector<std::string>& tasks, VideoFiles& videos);
  // Of the whole set.
  void write_stats(SetTarget& target);
  void write_lines(SetTarget& target, const std::vector<std::string>& tasks) const;  // v2.1

 private:
  void add_lines(const ListedEpisode& episode, const std::vector<std::string>& tasks);

  bool v21_;
  std::int64_t files_ = 0;
  std::vector<ListedEpisode> waiting_;
  StatsOfEpisodes stats_;
  std::string lines_, stats_lines_;  // v2.1
};

}  // namespace td::datasets
