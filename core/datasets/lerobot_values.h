// core/datasets/lerobot_values.h: what a column of LeRobot's tables holds, as info.json tells.
#pragma once

#include "core/datasets/lerobot.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace td::datasets {

// Of a tensor, [rows, …]. Code::format for other sizes, and for values that the dtype cannot hold. `where` begins the messages.
at::Tensor tensor_of_column(const TensorDict& values, const Feature& feature, std::int64_t rows,
                            const std::string& where);
// A text or the bytes of a picture for each row.
std::vector<Plain> items_of_column(const TensorDict& values, const Feature& feature,
                                   const std::string& where);

}  // namespace td::datasets
