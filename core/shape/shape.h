// core/shape/shape.h: more operations on batch dimensions. They share memory unless stated otherwise.
#pragma once

#include "core/tree/view_ops.h"

#include <optional>
#include <vector>

namespace td {

TensorDict move_dims(const TensorDict& td, SizesView from, SizesView to);
TensorDict narrow(const TensorDict& td, std::int64_t dim, std::int64_t start, std::int64_t length);

// Adds leading dimensions of size 1 until there are `dims`.
TensorDict atleast(const TensorDict& td, std::size_t dims);

// The meaning of a split's numbers.
enum class Split {
  length,     // one: length of each part; the last may be shorter
  lengths,    // of each part
  chunks,     // one: maximum number of parts of equal length; the last may be shorter
  parts,      // one number: how many parts; the first ones may be one longer
  positions,  // where each part starts, except the first
};
Sizes split_lengths(const TensorDict& td, std::int64_t dim, Split kind, SizesView numbers);
std::vector<TensorDict> split(const TensorDict& td, std::int64_t dim, SizesView lengths);

// Reinterprets each leaf's memory as another dtype. The last dimension changes if the widths differ; `batch`:
// batch size of the result.
TensorDict view_as(const TensorDict& td, c10::ScalarType dtype, std::optional<SizesView> batch);

// Whether all leaves are contiguous.
bool is_contiguous(const TensorDict& td);

// As TensorDict::contiguous(); `canonical` also normalises the strides of dimensions of size 1.
TensorDict contiguous(const TensorDict& td, bool canonical);

// Replaces the content of `td`: entries, batch size, device, names. Shares nested dictionaries with the
// source.
void become(const TensorDict& td, const TensorDict& source);

}  // namespace td
