// core/tree/non_tensor.h: non-tensor entries: texts, numbers, lists, maps, bytes. Kept as JSON text.
#pragma once

#include "core/tree/tensordict.h"

#include <string>
#include <string_view>

namespace td {

// One value for the whole batch. Throws Code::format when the text is no JSON.
void set_value(TensorDict& td, Path path, std::string_view json);

// One value for each element of the batch: lists nested as the batch of the dictionary that holds the
// entry. Throws Code::shape when they do not fit.
void set_values(TensorDict& td, Path path, std::string_view json);

// The value of each element: lists nested as the batch is (Python's tolist).
std::string values_of(const TensorDict& td, Path path);

// The one value that all elements have; Code::wrong_entry when they differ (Python's .data).
std::string value_of(const TensorDict& td, Path path);

// Makes one value for the batch one for each element (Python's maybe_to_stack). Nothing for a batch
// without dimensions, or where it is done already.
void spread_value(TensorDict& td, Path path);

// Bytes that are no text. Their JSON is {"$bytes": "<base64>"}.
void set_bytes(TensorDict& td, Path path, std::string_view bytes);
std::string bytes_of_value(const TensorDict& td, Path path);
std::string bytes_json(std::string_view bytes);

}  // namespace td
