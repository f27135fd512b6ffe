// core/loader/slices.h: runs of consecutive rows that cross no border of an episode.
#pragma once

#include "core/loader/row_source.h"

#include <string>
#include <vector>

namespace td {

struct SliceOptions {
  std::int64_t length = 0;           // rows of a slice; 0: there are no slices
  std::int64_t step = 0;             // rows from one slice to the next of an episode; 0: the length
  bool short_ones = false;           // what is left of an episode makes a shorter slice
  std::vector<std::string> episode;  // an entry that is another one in each episode; or none
  std::vector<std::vector<std::string>>
      ends;  // entries that are true at the last row of an episode
};

// Marks the rows behind which an episode ends. `ring`: the first row follows the last one. Throws as Slices does.
at::Tensor episode_ends(const RowSource& source, std::int64_t rows, const SliceOptions& options,
                        bool ring = false);

// The slices of a source, by number. Rows at the borders of a source part in any case.
class Slices {
 public:
  // Reads the entries that tell episodes apart. Throws Code::key_not_found, wrong_entry, shape (not one value
  // for each row).
  Slices(const RowSource& source, std::int64_t rows, const SliceOptions& options);

  std::int64_t count() const noexcept { return behind_.empty() ? 0 : behind_.back(); }
  Run operator[](std::int64_t number) const noexcept;

 private:
  struct Episode {
    std::int64_t first, end;
  };
  std::int64_t length_, step_;
  std::vector<Episode> episodes_;     // that have slices
  std::vector<std::int64_t> behind_;  // how many slices there are up to the end of each
};

}  // namespace td
