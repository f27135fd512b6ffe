// core/apply/apply.h: applies a callback to every entry of one or several dictionaries.
#pragma once

#include "core/tree/tensordict.h"

#include <functional>
#include <optional>

namespace td {

enum class FilterEmpty { unset, yes, no };

struct ApplyOptions {
  bool inplace = false;
  FilterEmpty filter_empty = FilterEmpty::unset;
  bool propagate_lock = false;
};

// Receives the path and the leaf; an undefined result drops the entry.
using ApplyFn = std::function<at::Tensor(Path path, const at::Tensor& leaf)>;

// Applies to the leaves of one dictionary; returns `td` with `inplace`.
TensorDict apply(const TensorDict& td, const ApplyOptions& options, const ApplyFn& callback);

// Options of functions over several dictionaries.
struct ApplyManyOptions : ApplyOptions {
  bool call_on_nested = false;  // passes the root's entries, including dictionaries
  bool fill_missing = false;    // missing entries are `default_value`, possibly undefined
  at::Tensor default_value;
  std::optional<Sizes> batch_size;    // of each dictionary in the result; reads lazy stacks
  std::optional<c10::Device> device;  // of the result and its values
  std::optional<Names> names;         // of the result; unset: dropped if the batch size changes
  std::optional<TensorDict> out;      // receives the results
};

// Receives the path and the entry of each dictionary (empty if missing). Returns a tensor, a dictionary, or
// an empty value to drop the entry.
using ApplyManyFn = std::function<Value(Path path, c10::ArrayRef<Value> sources)>;

// Returns `td` with `inplace`, `out` if it is set, and nullopt if the root lost all entries.
std::optional<TensorDict> apply(const TensorDict& td, c10::ArrayRef<TensorDict> others,
                                const ApplyManyOptions& options, const ApplyManyFn& callback);

// As the first, with all options.
std::optional<TensorDict> apply_leaves(const TensorDict& td, const ApplyManyOptions& options,
                                       const ApplyFn& callback);

}  // namespace td
