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

// A tensor that counts from `first`.
Tensor counted(int64_t first, const std::vector<int64_t> &sizes, const std::string &dtype,
               bool changed = false);

// The dictionary that an entry of "bases" describes, or the lazy stack. `changed`: 1 added to every leaf, bools
// negated.
Dict base_of(const Json &base, bool changed = false);

// A tensor of {"dtype", "shape", "values"}.
Tensor tensor_from_leaf(const Json &leaf);

// The dictionaries of a list of such entries, and their handles.
struct Members {
  explicit Members(const Json &specs);
  std::vector<Dict> dicts;
  std::vector<const td_tensordict *> handles;
};

// Non-tensor values of an entry, in lists nested like the batch.
Json lists_of(const td_tensordict *td, const char *const *path, size_t path_len);

// Sets an entry of the form [path, value]; a list is a value for each row.
void set_data(td_tensordict *td, const Json &item);

std::vector<const char *> names_of(const Path &path);
td_dtype dtype_of(const std::string &name);

// The names of the dimensions; null where there is none.
Json names_of(const td_tensordict *td);

// Gives dimensions their names.
void name(td_tensordict *td, const Json &names);

// Writes one value into every tensor, at every level.
void fill(td_tensordict *td, const td_tensor *value);

// {"dtype", "shape", "values"} of a tensor.
Json leaf_of(const td_tensor *tensor);

// The first place where a dictionary is not what "expect" says of it, in one line; "" for none. Non-tensor
// values are compared element by element, lazy stacks member by member.
std::string difference_of(const Json &expected, const td_tensordict *td);

// The first place where two descriptions differ, in one line; "" when they are equal.
std::string difference(const Json &expected, const Json &found, const std::string &where = "");

}  // namespace parity

#endif
