// core/interop/table_columns.h: a tensor as several columns of a table, and a batch of several dimensions as its rows.
#pragma once

#include "core/tree/tensordict.h"

#include <string>
#include <vector>

namespace td {

// What the column is called that counts along a dimension of the batch.
std::string counter_name(std::size_t dim, std::size_t dims);

struct NamedValue {
  std::string name;
  Value value;
};

// Puts columns "a[0]", "a[1]", … where they are complete and of one dtype, into one tensor "a".
std::vector<NamedValue> join_elements(std::vector<NamedValue> columns);

// The batch size that the first columns say, which count the rows.
struct Counted {
  std::size_t columns = 0;            // that count; 0: there are none
  Sizes batch = {};                   // all dimensions, or none
  std::vector<std::int64_t> lengths;  // of episodes that differ; else empty
};
Counted count_batch(const std::vector<NamedValue>& columns, std::int64_t rows);

// A dictionary with one batch dimension gets that batch.
TensorDict with_batch(const TensorDict& td, const Counted& counted);

}  // namespace td
