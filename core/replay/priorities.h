// core/replay/priorities.h: draws rows in proportion to their priorities.
#pragma once

#include "core/replay/priority_tree.h"
#include "core/replay/replay_sampler.h"

#include <optional>
#include <utility>
#include <vector>

namespace td {

// Proportional prioritized replay: draws a row with probability (priority + eps)^alpha over their sum. A new
// row gets the one in its entry of priorities, if there is such an entry, or the largest priority ever set.
class Priorities final : public ReplaySampler {
 public:
  Priorities(const ReplayOptions& options, std::int64_t capacity);

  void draw(const RingCounts& ring, const RingRows& rows, std::int64_t count, RandomNumbers& random,
            Drawn& drawn) override;
  void follow(const RingCounts& ring, const RingRows* rows) override;
  void replaced(c10::ArrayRef<std::int64_t> places, const RingCounts& ring,
                const RingRows& rows) override;
  Priorities* priorities() noexcept override { return this; }
  bool has_files() const noexcept override { return true; }
  void save(const std::string& folder, bool in_new) const override;
  void load(const std::string& folder, const RingCounts& ring) override;

  // One priority for each place, or one for all. Throws Code::shape, dtype, index, invalid_argument, without
  // a change.
  void update(const at::Tensor& places, const at::Tensor& priorities, const RingCounts& ring);

  // Priorities of rows, from place `first` on, that later rows of the same call replaced. They count where the largest
  // ever set does.
  void note_replaced(c10::ArrayRef<double> values, std::int64_t first) noexcept;

  double beta() const noexcept { return beta_; }
  void set_beta(double beta);

  // From now on only places that are not 0 here are drawn, until the next call.
  void limit(std::vector<char> may_be_drawn);
  // Changes that for some places, in this order.
  void allow(const std::vector<std::pair<std::int64_t, bool>>& places);
  bool allows_none() const noexcept { return some_ && allowed_ == 0; }

  // The priorities that rows have in an entry, one for each. Throws Code::dtype, shape, invalid_argument.
  static std::vector<double> given(const at::Tensor& entry, Path path, std::int64_t rows);

  static constexpr const char* settings_file = "sampler_metadata.json";

 private:
  void added(c10::ArrayRef<std::int64_t> places, const RingRows* rows);
  void put(c10::ArrayRef<std::int64_t> places, const double* values, std::int64_t step) noexcept;
  void put_weight(std::int64_t place, double value, double bound) noexcept;
  void find_largest() noexcept;
  static void check_exponent(const char* name, double value, const std::string& where);
  void read_settings(const std::string& path, std::int64_t capacity);
  void read_trees(const std::string& folder, const RingCounts& ring);

  double alpha_, beta_, eps_;
  bool batch_weights_;
  bool largest_within_;
  std::vector<std::string> entry_;
  PriorityTree tree_;
  std::optional<PriorityTree> some_;  // weights of the places that may be drawn, if not all may
  std::vector<char> may_be_drawn_;
  std::int64_t allowed_ = 0;  // how many may be drawn
  double largest_ = -1;       // largest priority ever set; -1: not set
  std::int64_t largest_place_ = 0;
  bool largest_changed_ = false;  // since the settings were read
  RingCounts seen_;
  JsonMembers settings_;  // as read from the folder
  std::vector<std::int64_t> changed_;
  std::vector<double> masses_;  // scratch of draw()
};

}  // namespace td
