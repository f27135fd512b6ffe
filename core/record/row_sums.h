// core/record/row_sums.h: checksums of a growing folder: hashes each value file as it is written.
#pragma once

#include "core/formats/checksums.h"
#include "core/record/layout.h"

#include <deque>
#include <memory>

namespace td::record {

class RowSums {
 public:
  // Whether a folder has checksums. They are then maintained without being asked for: stale ones would report
  // damage.
  static bool present(const Layout& folder);

  // The text of that file.
  static std::string stored(const Layout& folder);

  // Reads the first rows of each file. `check`: Code::format if they do not match the folder's checksums;
  // otherwise accepts damaged rows. With `check`, files that are as keep() left them are not read again.
  RowSums(const Layout& folder, std::int64_t rows, bool check);

  // Hashes further rows of the files, up to `rows`.
  void read(std::int64_t rows);

  void add(std::size_t leaf, const char* data, std::size_t bytes) {
    hashers_[leaf].add(data, bytes);
  }

  // The file of checksums for `rows` rows, all of which were added.
  std::string text(std::int64_t rows) const;

  // Once that file is in its place: for the next one of this folder in this process. This one is at its end.
  void keep() noexcept;

 private:
  void check() const;

  const Layout& folder_;
  std::int64_t rows_ = 0;       // rows hashed so far
  std::deque<Hasher> hashers_;  // one for each leaf
};

// nullptr if there are no checksums and none are `wanted`.
std::unique_ptr<RowSums> open_sums(const Layout& folder, bool wanted);

}  // namespace td::record
