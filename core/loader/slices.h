// core/loader/slices.h: runs of consecutive rows within an episode.
#pragma once

#include "core/loader/row_source.h"

#include <string>
#include <vector>

namespace td {

struct SliceOptions {
  std::int64_t length = 0;           // rows of a slice; 0: no slices
  std::int64_t step = 0;             // rows between starts of slices; 0: the length
  bool short_ones = false;           // the rest of an episode forms a shorter slice
  std::vector<std::string> episode;  // an entry that changes with each episode; may be empty
  std::vector<std::vector<std::string>>
      ends;  // entries that are true at the last row of an episode
};

// Marks the last row of each episode. `ring`: the first row follows the last one. Throws as Slices does.
at::Tensor episode_ends(const RowSource& source, std::int64_t rows, const SliceOptions& options,
                        bool ring = false);

// The numbered slices of a source. They never cross the source's borders.
class Slices {
 public:
  // Reads the entries that separate episodes. Throws Code::key_not_found, wrong_entry, shape (not one value
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
  std::vector<std::int64_t> behind_;  // number of slices up to the end of each episode
};

}  // namespace td
