// core/formats/stack_text.h: extends lists of non-tensor values without parsing the values.
#pragma once

#include "core/formats/format.h"

namespace td::format {

// A stack of values whose list was located by its brackets, quotes and commas.
struct StackText {
  NodeText node;           // `data` is the list as in the file
  std::int64_t count = 0;  // number of elements
};

// Locates the list in a text of the form that non_tensor_stack_text() and Python write; else nullopt.
std::optional<StackText> find_stack(std::string_view text);

// The number of elements if the whole text is a list; else -1.
std::int64_t count_list(std::string_view text) noexcept;

void extend_list(std::string& list, std::string_view more);

}  // namespace td::format
