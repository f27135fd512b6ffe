// core/formats/stack_text.h: lists of non-tensor values that become longer, without a look into the values.
#pragma once

#include "core/formats/format.h"

namespace td::format {

// A stack of values whose list was found, and not read: only its brackets, quotes and commas.
struct StackText {
  NodeText node;           // `data` is the list as it stands in the file
  std::int64_t count = 0;  // of its elements
};

// Of a text as non_tensor_stack_text() and Python write it; nothing for any other one.
std::optional<StackText> find_stack(std::string_view text);

// Puts the elements of the list `more` behind those of `list`.
void extend_list(std::string& list, std::string_view more);

}  // namespace td::format
