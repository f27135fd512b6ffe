// core/datasets/lerobot_columns.h: columns of LeRobot's tables, as they are written.
#pragma once

#include "core/arrow/made.h"
#include "core/datasets/lerobot.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace td::datasets {

// The columns that every set has, with their dtypes.
inline constexpr std::pair<const char*, const char*> made_columns[] = {{"timestamp", "float32"},
                                                                       {"frame_index", "int64"},
                                                                       {"episode_index", "int64"},
                                                                       {"index", "int64"},
                                                                       {"task_index", "int64"}};

std::string dtype_text(const Feature& feature);  // as info.json has it
// A member of "features".
Plain feature_plain(const std::string& dtype, SizesView shape, Plain names);
// As the library `datasets` keeps it beside a table; versions before 4 know no "List".
Plain described(const Feature& feature);

// Lists nested as the dimensions after the first.
arrow::Column nested_lists(std::string_view name, const at::Tensor& tensor,
                           const std::string& metadata);
arrow::Column tensor_as_column(const Feature& feature, const at::Tensor& rows);
arrow::Column numbers_column(std::string_view name, const std::vector<std::int64_t>& numbers);
arrow::Column texts_column(std::string_view name, const std::vector<std::string>& texts);
arrow::Column pictures_column(std::string_view name, const std::vector<std::string>& files);

}  // namespace td::datasets
