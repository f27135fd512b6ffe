// core/datasets/lerobot_stats.h: the statistics that LeRobot keeps of each feature, of an episode and of the whole set.
#pragma once

#include "core/formats/plain.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <string>
#include <utility>
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
  std::int64_t count() const;                // of rows, or of pictures
  // Of such an object. Code::unsupported if it lacks one of the names, or has what are no numbers.
  static FeatureStats read(const Plain& object, const std::string& where);
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

using SetStats = std::vector<std::pair<std::string, FeatureStats>>;  // by feature

// Of the whole set, as LeRobot joins those of its episodes. What only some episodes have is not of the whole set.
class StatsOfEpisodes {
 public:
  void add(SetStats episode) { waiting_.push_back(std::move(episode)); }
  const SetStats& take();

 private:
  std::vector<SetStats> waiting_;  // the first: of those before
};

}  // namespace td::datasets
