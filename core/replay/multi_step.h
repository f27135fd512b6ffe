// core/replay/multi_step.h: rewards summed over several steps, as TorchRL's MultiStep sums them.
#pragma once

#include "core/replay/replay_sampler.h"
#include "core/tree/tensordict.h"

#include <memory>

namespace td {

// Rows are followed in the ring, to the last row of their episode or to the newest one.
class MultiStep {
 public:
  explicit MultiStep(const ReplayOptions& options);

  // Replaces rewards of a batch by returns, and what it has in "next" by what the last of the steps has; flags of ends
  // stay. Sets ("next", "original_reward"), "steps_to_next_obs", "gamma" and "nonterminal". `places`: of the batch's
  // rows. Throws Code::key_not_found, wrong_entry, dtype, shape, unsupported.
  void apply(const RingCounts& ring, const RingRows& rows, c10::ArrayRef<std::int64_t> places,
             TensorDict& batch);

 private:
  using Key = std::vector<std::string>;

  void find_moved(const RingRows& rows);
  at::Tensor ended(const RowSource& source, const at::Tensor& places) const;
  at::Tensor real_rows(const TensorDict& batch, std::int64_t n) const;

  std::int64_t steps_;
  double gamma_;
  std::vector<Key> rewards_;
  Key mask_;
  SliceOptions episodes_;

  const RingRows* of_ = nullptr;                // whose entries these are:
  std::vector<Key> moved_;                      // those taken from the last step
  std::shared_ptr<const RowSource> last_rows_;  // with these entries alone
};

}  // namespace td
