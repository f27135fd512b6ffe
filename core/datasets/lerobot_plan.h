// core/datasets/lerobot_plan.h: which entries of a recording become which columns of LeRobot's tables.
#pragma once

#include "core/datasets/lerobot.h"
#include "core/datasets/save.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace td::datasets {

// A feature that is written.
struct PlannedColumn {
  Feature feature;
  Plain names;              // as in info.json
  bool is_alone = false;    // one number for each row, without a dimension
  bool is_encoded = false;  // pictures that are tensors, and become files
  bool is_video = false;    // pictures that become a video
};

// Texts by their numbers: tasks.
class TextNumbers {
 public:
  explicit TextNumbers(const TensorDict& metadata, const char* name);
  std::int64_t number_of(const std::string& text);
  const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::map<std::string, std::int64_t> numbers_;
};

// One episode, as it is written.
struct PlannedEpisode {
  std::int64_t steps = 0;
  std::vector<std::int64_t> tasks = {};  // of each row
};

struct LeRobotPlan {
  std::vector<PlannedColumn> columns;                 // but for those that all sets have
  std::vector<std::pair<std::string, Plain>> videos;  // columns and features of those that are kept
  TextNumbers tasks;
  Plain fps;
  std::int64_t episodes = 0, frames = 0;
  PlannedEpisode last = {};
};

// Plans a set episode by episode. Notes down in `draft` what cannot be held.
class LeRobotPlanner {
 public:
  // Behind `episodes` of so many frames, which a set has already.
  LeRobotPlanner(const TensorDict& metadata, const DatasetSaveOptions& options, Draft& draft,
                 std::int64_t episodes = 0, std::int64_t frames = 0);
  ~LeRobotPlanner();

  // Whether it is written: one without steps is not. The first one has the columns of all.
  bool add(const Entries& entries, const TensorDict& about, const std::vector<HeldVideo>& videos);
  const LeRobotPlan& plan() const noexcept;
  void finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace td::datasets
