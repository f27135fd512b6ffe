// core/datasets/lerobot_there.h: a set of LeRobot that grows: what a writer must know of the episodes before.
#pragma once

#include "core/datasets/lerobot_lists.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace td::datasets {

struct LeRobotThere {
  TensorDict metadata;
  Plain info;
  std::int64_t episodes = 0, rows = 0;
  // How many files are in use. Others behind them are of a writer that was killed, and are written anew.
  std::int64_t data_files = 0, lists = 0;
  std::vector<std::pair<std::string, std::int64_t>> videos;  // of each column
  SetStats stats;

  // Code::unsupported for a set that cannot grow: an older version, other names of files, no statistics.
  static LeRobotThere read(const std::string& folder);

  // Code::unsupported if the columns of an info.json for more episodes are others.
  void require_same(const Plain& more) const;
};

}  // namespace td::datasets
