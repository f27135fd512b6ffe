// core/datasets/set_loader.h: minibatches of a data set, whose rows are read when a batch is made.
#pragma once

#include "core/datasets/dataset.h"
#include "core/loader/loader.h"

#include <memory>

namespace td {

// As a loader over the rows of all episodes. Slices stay in an episode of the set: Code::invalid_argument for `episode` and
// `ends`, and for `refresh`. Memory holds what RowReader keeps, two numbers for each row, and the batches.
std::unique_ptr<Loader> load_dataset(const Dataset& set, LoaderOptions options);

}  // namespace td
