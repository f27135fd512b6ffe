// core/inspect/describe.h: the structure of a dictionary as text, and dictionaries made from such a text.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>
#include <string>
#include <string_view>

namespace td {

// {"batch_size": [3], "device": "cpu", "names": ["time"], "entries": {"obs": {"dtype": "torch.float32",
// "shape": [3, 4], "device": "cpu"}, "n": {"batch_size": [3], "entries": {}}, "s": {"value": "text"}}}.
// "device" and "names" are optional; "values" has one for each element of the batch.
std::string describe_dict(const TensorDict& td);

enum class Content { zeros, uninitialised, meta };
struct FromSchemaOptions {
  Content content = Content::zeros;
  std::optional<c10::Device> device;  // overrides the text's devices
};

// Throws Code::format for an invalid text.
TensorDict from_schema(std::string_view text, const FromSchemaOptions& options);

}  // namespace td
