// core/tensor/picked_rows.h: which rows an index needs from values that are read from elsewhere.
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
  std::int64_t count = 0;           // in the result
  std::vector<Run> runs;            // rows to read: ascending, without duplicates
  std::vector<std::int64_t> order;  // picks from the rows read; empty: as read
  std::int64_t read_count = 0;      // number of rows read
};

// Splits an index into rows to read and an index into these. Throws Code::index and Code::shape, as indexing
// a dictionary in memory does.
struct RowIndex {
  PickedRows rows;
  std::vector<IndexItem> rest;  // empty: nothing left to do
};
RowIndex split_rows(c10::ArrayRef<IndexItem> items, SizesView batch);

}  // namespace td
