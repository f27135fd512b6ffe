// core/record/row_sums.h: the checksums of a folder that grows: a hash of each file of values goes on with what is written.
#pragma once

#include "core/formats/checksums.h"
#include "core/record/layout.h"

#include <deque>
#include <memory>

namespace td::record {

class RowSums {
 public:
  // Whether a folder has checksums. They are then kept whether or not anybody asks: old ones would call
  // it damaged.
  static bool present(const Layout& folder);

  // Reads the first rows of each file. Without a check also what is damaged is taken as it is; with one
  // Code::format where rows are not those that the checksums of the folder are of.
  RowSums(const Layout& folder, std::int64_t rows, bool check);

  // Goes on to so many rows with what the files hold.
  void read(std::int64_t rows);

  void add(std::size_t leaf, const char* data, std::size_t bytes) {
    hashers_[leaf].add(data, bytes);
  }

  // The file of checksums for a number of rows; what has been added is of as many.
  std::string text(std::int64_t rows) const;

 private:
  void check() const;

  const Layout& folder_;
  std::int64_t rows_ = 0;       // that have been read
  std::deque<Hasher> hashers_;  // one for each leaf
};

// Nothing when there are no checksums, and none are wanted.
std::unique_ptr<RowSums> open_sums(const Layout& folder, bool wanted);

}  // namespace td::record
