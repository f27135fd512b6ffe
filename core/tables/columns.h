// core/tables/columns.h: tensors as several columns of a table, and several batch dimensions as rows.
#pragma once

#include "core/tree/tensordict.h"

#include <string>
#include <vector>

namespace td {

// The name of the column that counts along a batch dimension.
std::string counter_name(std::size_t dim, std::size_t dims);

struct NamedValue {
  std::string name;
  Value value;
};

// Combines columns "a[0]", "a[1]", … into a tensor "a" if they are complete and share a dtype.
std::vector<NamedValue> join_elements(std::vector<NamedValue> columns);

// The batch size according to the leading columns that count rows.
struct Counted {
  std::size_t columns = 0;            // number of counting columns
  Sizes batch = {};                   // all dimensions; may be empty
  std::vector<std::int64_t> lengths;  // of episodes of different lengths; else empty
};
Counted count_batch(const std::vector<NamedValue>& columns, std::int64_t rows);

// Reshapes the one batch dimension to that batch.
TensorDict with_batch(const TensorDict& td, const Counted& counted);

}  // namespace td
