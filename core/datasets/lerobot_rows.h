// core/datasets/lerobot_rows.h: rows that wait, and the files of Parquet that they become, with a row group for each episode.
#pragma once

#include "core/datasets/lerobot_plan.h"
#include "core/datasets/set_target.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace td::datasets {

// Of each column, but for those that all sets have: tensors, or texts and files of pictures.
struct LeRobotValues {
  std::vector<std::vector<at::Tensor>> tensors;
  std::vector<std::vector<std::string>> items;

  explicit LeRobotValues(std::size_t columns) : tensors(columns), items(columns) {}
  std::int64_t bytes() const noexcept;
  void append(LeRobotValues&& more);
};

class LeRobotRows {
 public:
  explicit LeRobotRows(bool v21) : v21_(v21), waiting_(0) {}
  // Of a set that is there.
  void go_on(std::int64_t files, std::int64_t rows) {
    files_ = files;
    rows_ = rows;
  }

  // The episode that was planned last, with the times of its rows. Those before it are written if a file would have too many.
  void add(SetTarget& target, const LeRobotPlan& plan, LeRobotValues values,
           const at::Tensor& times);
  void write(SetTarget& target, const LeRobotPlan& plan);  // what waits

  std::int64_t rows() const noexcept { return rows_; }   // of the set
  std::int64_t file() const noexcept { return files_; }  // that gets the rows which wait

 private:
  bool v21_;
  std::int64_t files_ = 0, rows_ = 0;
  LeRobotValues waiting_;
  std::int64_t bytes_ = 0;  // of what waits
  std::vector<at::Tensor> times_;
  std::vector<std::int64_t> frames_, episodes_, index_, tasks_, groups_;
};

}  // namespace td::datasets
