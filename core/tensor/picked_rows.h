// core/tensor/picked_rows.h: which rows an index needs, of values that are read from somewhere.
#pragma once

#include "core/tensor/index.h"

#include <vector>

namespace td {

// Rows along the first batch dimension.
struct PickedRows {
  struct Run {
    std::int64_t start, count, step;
  };
  bool all = true;
  std::int64_t count = 0;           // how many the result has
  std::vector<Run> runs;            // read one after the other: rising, none twice
  std::vector<std::int64_t> order;  // then picked in this order; empty: as they are
  std::int64_t read_count = 0;      // how many the runs have
};

// Splits an index into the rows that are read and an index into these. Checks it against the batch size:
// Code::index and Code::shape as an index of a dictionary in memory.
struct RowIndex {
  PickedRows rows;
  std::vector<IndexItem> rest;  // empty: nothing more to do
};
RowIndex split_rows(c10::ArrayRef<IndexItem> items, SizesView batch);

}  // namespace td
