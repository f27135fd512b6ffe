// core/datasets/verify_stats.h: statistics that a data set tells, beside those of its values.
#pragma once

#include "core/datasets/verify_problems.h"
#include "core/formats/plain.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace td::datasets {

// Of the columns of LeRobot that hold numbers. What is kept does not grow with the rows.
class SeenStats {
 public:
  void add(const std::string& column, const at::Tensor& rows);
  void add(const SeenStats& other);
  // Names what differs from an object with an object for each column; without some columns it tells less. Quantiles are not
  // exact, and are not compared.
  void compare(Problems& problems, const Spot& at, const Plain& told) const;

 private:
  struct Seen {
    at::Tensor low, high, sum,
        squares;  // of each element of a row, double; squares of what is beside the mean
    std::int64_t count = 0;
  };
  static void join(Seen& to, const Seen& more);
  std::map<std::string, Seen> columns_;
};

}  // namespace td::datasets
