// core/datasets/lerobot.h: the columns of LeRobot's tables, and the entries that they become.
#pragma once

#include "core/datasets/source.h"

#include <string>
#include <string_view>
#include <vector>

namespace td::datasets {

// A member of "features" in info.json.
struct Feature {
  enum Holds : std::uint8_t { tensor, text, image, video };

  std::string column;
  OwnedKey key;
  Holds holds = tensor;
  c10::ScalarType dtype = c10::ScalarType::Undefined;  // of a tensor; else as it is in the table
  // Of a row; none if it is a number alone. Of a video height, width, 3.
  Sizes shape = {};
};

// By this member of info.json we know which features of shape [1] were numbers alone.
inline constexpr const char* scalars_mark = "tensordict_scalars";

inline constexpr const char* images_prefix = "observation.images.";
inline constexpr const char* task_key = "language_instruction";

// "observation.images.front" is ("observation", "image", "front"), "episode_index" is "episode", "frame_index" is "frame"; the names
// of others are split at their dots.
OwnedKey key_of_column(std::string_view column);
std::string column_of_key(const OwnedKey& key);

// The keys are such that each can be an entry: a column keeps its dots where another is called as it begins. Code::format
// for what is no object of features, Code::unsupported for dtypes that are not known. `where` begins the messages.
std::vector<Feature> features_of(const Plain& info, const std::string& where);

}  // namespace td::datasets
