// core/apply/apply.h: a function of the caller over every entry of a dictionary, or of several side by side.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// What TensorDict::apply() has no need of.
struct ApplyManyOptions : ApplyOptions {
  bool call_on_nested = false;  // entries of the root as they are, dictionaries among them
  bool fill_missing = false;    // what others lack is `default_value`, which may be undefined
  at::Tensor default_value;
  std::optional<Sizes> batch_size;    // of every dictionary in the result; lazy stacks are read out
  std::optional<c10::Device> device;  // of the result, to which values move
  std::optional<Names> names;  // of the result's dimensions; without them a new batch size has none
  std::optional<TensorDict> out;  // takes the results, by plain set
};

// Receives the path and the entry of each dictionary; an empty value where one has none. Answers with
// a tensor, a dictionary, or nothing, which drops the entry.
using ApplyManyFn = std::function<Value(Path path, c10::ArrayRef<Value> sources)>;

// Nothing when the root lost everything. With `inplace` it is `td`, with `out` it is that one.
std::optional<TensorDict> apply(const TensorDict& td, c10::ArrayRef<TensorDict> others,
                                const ApplyManyOptions& options, const ApplyManyFn& callback);

// For the leaves of one dictionary.
std::optional<TensorDict> apply_leaves(const TensorDict& td, const ApplyManyOptions& options,
                                       const ApplyFn& callback);

}  // namespace td
