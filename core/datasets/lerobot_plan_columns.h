// core/datasets/lerobot_plan_columns.h: the columns of a set of LeRobot that is written.
#pragma once

#include "core/datasets/lerobot_plan.h"

#include <cstddef>
#include <string>
#include <vector>

namespace td::datasets {

// Decides which entries become which columns. Notes down in `draft` what cannot be held.
class LeRobotColumns {
 public:
  // `columns` must outlive it.
  LeRobotColumns(const TensorDict& metadata, Draft& draft, std::vector<PlannedColumn>& columns,
                 bool videos);

  // By the first episode.
  void plan(const Entries& entries);
  // All episodes are rows of the same tables: another one must fit.
  void require(const Entries& entries, std::size_t episode) const;

 private:
  // Names of columns that the metadata tell, as LeRobot's own have.
  void find_known(const TensorDict& metadata);
  const Feature* known(const OwnedKey& key) const;
  bool is_known_text(const Entries& entries, const OwnedKey& key) const;
  // Whether it can be a column.
  bool describe(PlannedColumn& column, const Rows& rows, const Feature* named);
  Sizes picture_shape(const std::string& file, const std::string& name, const Feature* named);
  Plain names_of(const Feature* named, const Feature& feature) const;

  Draft& draft_;
  std::vector<PlannedColumn>& columns_;
  bool videos_;  // pictures become videos
  bool has_subtasks_;
  Plain features_;
  std::vector<Feature> known_;
};

}  // namespace td::datasets
