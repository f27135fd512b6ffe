// core/tree/non_tensor.h: non-tensor entries: text, numbers, lists, maps, bytes.
#pragma once

#include "core/formats/plain.h"
#include "core/tree/tensordict.h"

#include <string>
#include <string_view>

namespace td {

// A value for the whole batch. Throws Code::format for invalid JSON.
void set_value(TensorDict& td, Path path, std::string_view json);
void set_value(TensorDict& td, Path path, Plain value);

// A value for each element of the batch: lists nested like the dictionary's batch. Throws Code::shape if they
// do not fit.
void set_values(TensorDict& td, Path path, std::string_view json);
void set_values(TensorDict& td, Path path, const Plain& lists);

// The value of each element as JSON: lists nested like the batch (Python's tolist).
std::string values_of(const TensorDict& td, Path path);

// The JSON of the value shared by all elements; Code::wrong_entry if they differ (Python's .data).
std::string value_of(const TensorDict& td, Path path);

// Texts, without quotes. Throws Code::invalid_argument for what is not UTF-8.
void set_text(TensorDict& td, Path path, std::string_view text);
// A text for each element of the batch, row by row. Throws Code::shape for another number.
void set_texts(TensorDict& td, Path path, Span<const char* const> texts);
// The text of all elements, or of those of one row. Throws Code::wrong_entry if they differ or are no text.
std::string text_in(const TensorDict& td, Path path);
std::string text_in_row(const TensorDict& td, Path path, std::int64_t row);

// Turns a value for the batch into one for each element (Python's maybe_to_stack). Does nothing without batch
// dimensions, or if it was done before.
void spread_value(TensorDict& td, Path path);

// Arbitrary bytes. Their value is {"$bytes": "<base64>"}.
void set_bytes(TensorDict& td, Path path, std::string_view bytes);
std::string bytes_of_value(const TensorDict& td, Path path);
Plain plain_of_bytes(std::string_view bytes);

}  // namespace td
