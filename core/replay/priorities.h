// core/replay/priorities.h: rows are drawn as often as their priorities say.
#pragma once

#include "core/replay/priority_tree.h"
#include "core/replay/replay_sampler.h"

namespace td {

// Proportional prioritized replay: a row is drawn with probability (priority + eps)^alpha over the sum of these.
// A row that nobody has given a priority has the largest one that was ever given.
class Priorities final : public ReplaySampler {
 public:
  Priorities(const ReplayOptions& options, std::int64_t capacity);

  void draw(const RingCounts& ring, const RingRows& rows, std::int64_t count, RandomNumbers& random,
            Drawn& drawn) override;
  void follow(const RingCounts& ring) override;
  void save(const std::string& folder, bool in_new) const override;
  void load(const std::string& folder, const RingCounts& ring) override;

  // One priority for each place, or one for all. Throws Code::shape, dtype, index, invalid_argument; nothing has
  // changed then.
  void update(const at::Tensor& places, const at::Tensor& priorities, const RingCounts& ring);

  double beta() const noexcept { return beta_; }
  void set_beta(double beta);

  static constexpr const char* settings_file = "sampler_metadata.json";

 private:
  double default_value() const noexcept;
  void read_settings(const std::string& path, std::int64_t capacity);
  void read_trees(const std::string& folder, const RingCounts& ring);

  double alpha_, beta_, eps_;
  bool batch_weights_;
  PriorityTree tree_;
  double largest_ = -1;  // priority that was ever given; -1: none
  std::int64_t largest_place_ = 0;
  bool largest_changed_ = false;  // since the settings were read
  RingCounts seen_;
  JsonMembers settings_;  // as another program wrote them
  std::vector<std::int64_t> changed_;
  std::vector<double> masses_;  // scratch of draw()
};

}  // namespace td
