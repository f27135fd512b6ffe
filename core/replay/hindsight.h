// core/replay/hindsight.h: goals that were reached stand in for those that were wanted (HER), as in TorchRL's
// HERReplayBuffer.
#pragma once

#include "core/nn/module.h"
#include "core/replay/episodes.h"

#include <string>
#include <vector>

namespace td {

// Whose achieved goal a row gets: of a later row of its episode or itself, of the last one, of any one, of any row.
enum class HindsightStrategy { future, final, episode, random };

struct HindsightOptions {
  HindsightStrategy strategy = HindsightStrategy::future;
  double ratio = 0.8;  // of the rows of a batch
  std::vector<std::string> goal{"desired_goal"}, achieved{"achieved_goal"};
  std::vector<std::string> reward{"next", "reward"};
};

// Throws Code::invalid_argument.
void check_hindsight(const HindsightOptions& options);

// How many of the first rows of a batch get another goal, as Python counts.
std::int64_t hindsight_rows(const HindsightOptions& options, std::int64_t rows);

// Gives the first rows of a batch other goals, in its own memory. `places`: of these rows. Throws Code::key_not_found,
// wrong_entry, dtype, shape, unsupported.
void give_reached_goals(const HindsightOptions& options, const RingEpisodes& episodes,
                        const RingRows& rows, c10::ArrayRef<std::int64_t> places,
                        RandomNumbers& random, TensorDict& batch);

// A batch whose first rows have other goals.
struct Relabeled {
  TensorDict batch;
  std::int64_t rows = 0;

  // Lets a module compute the rewards of these rows. Throws Code::invalid_argument if it writes none, Code::shape, and
  // what the module throws.
  void reward(const HindsightOptions& options, const Module& module);
};

}  // namespace td
