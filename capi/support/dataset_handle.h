// dataset_handle.h: the handle of a data set.
#pragma once

#include "arguments.h"

#include "core/datasets/dataset.h"

namespace capi {

template <>
struct Traits<td_dataset> : OwnedTraits<td::Dataset, Kind::dataset> {
  static constexpr const char* name = "data set";
};

}  // namespace capi
