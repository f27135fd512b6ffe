// core/datasets/lerobot_stats.h: the statistics that LeRobot keeps of each feature, of an episode and of the whole set.
#pragma once

#include "core/formats/plain.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

namespace td::datasets {

struct FeatureStats {
  static constexpr std::size_t kinds = 10;
  static const std::array<const char*, kinds>
      names;  // "min", "max", "mean", "std", "count", "q01", …

  // In the order of the names. Of a vector, one value for each element; of more dimensions, for each of the last; of
  // pictures [channels, 1, 1].
  std::array<at::Tensor, kinds> values;

  Plain plain(bool quantiles = true) const;  // an object
};

// Of the rows of a tensor, of one episode.
FeatureStats stats_of(const at::Tensor& rows);

// Of pictures, whose values are counted by 256 steps from 0 to 1.
class PictureStats {
 public:
  // uint8 or int32 (of 16 bits) [height, width] or [height, width, channels].
  void add(const at::Tensor& picture);
  FeatureStats take() const;

 private:
  at::Tensor counts_;  // [channels, 256]
  std::int64_t pictures_ = 0;
};

// Which of so many pictures are looked at.
std::vector<std::int64_t> sampled_pictures(std::int64_t count);

// Of the whole set, as LeRobot joins those of its episodes.
FeatureStats joined(const std::vector<FeatureStats>& episodes);

}  // namespace td::datasets
