// Between the JSON of a case and the library: dictionaries to begin with, and what became of them.
#ifndef PARITY_VALUES_H
#define PARITY_VALUES_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "td_handles.h"

namespace parity {

using handles::check;
using handles::Dict;
using handles::Keys;
using handles::made;
using handles::Refused;
using handles::Tensor;
using Json = nlohmann::json;
using Path = std::vector<std::string>;

// Nested lists of integers or of bools, or one of them alone.
Tensor tensor_of(const Json &nested);

// One number or bool.
Tensor scalar_of(const Json &value);

// The dictionary that an entry of "bases" describes. `changed`: 1 added to every leaf, bools negated.
Dict base_of(const Json &base, bool changed = false);

// Writes one value into every tensor, at every level.
void fill(td_tensordict *td, const td_tensor *value);

// {"batch", "leaves", "nodes"}, as "expect" has it. Paths are written without blanks.
Json describe(const td_tensordict *td);

// What "expect" says, with paths written as describe() writes them.
Json with_plain_paths(Json expected);

// The first place where two descriptions differ, in one line; "" when they are equal.
std::string difference(const Json &expected, const Json &found, const std::string &where = "");

}  // namespace parity

#endif
