// core/datasets/set_replay.h: draws from a data set, whose rows are read when they are drawn.
#pragma once

#include "core/datasets/dataset.h"
#include "core/replay/replay.h"

#include <memory>

namespace td {

// As a buffer that holds the rows of all episodes, and takes no others. Slices stay in an episode of the set. Memory holds a
// number for each row of the set, and what the sampler knows of it. Code::invalid_argument for `episode`, `ends` and what is of
// a buffer's own memory; Code::unsupported for returns of several steps; Code::shape for a set without rows.
std::unique_ptr<Replay> replay_dataset(const Dataset& set, ReplayOptions options);

}  // namespace td
