// core/tree/bytes_value.h: the bytes that a non-tensor value holds.
#pragma once

#include "core/formats/plain.h"

#include <optional>
#include <string>

namespace td {

// Of what plain_of_bytes() made; none of other values.
std::optional<std::string> bytes_of(const Plain& value);

}  // namespace td
