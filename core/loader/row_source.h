// core/loader/row_source.h: where the rows of a dictionary lie, and copying them into a batch.
#pragma once

#include "core/tree/tensordict.h"

#include <vector>

namespace td {

// Rows that follow one another.
struct Run {
  std::int64_t first, length;
};

// A dictionary as rows, as it was when this was made: nodes of its own over the same tensors, which it keeps
// alive. What becomes of the dictionary afterwards changes nothing here. Any number of threads may read.
//
// A row is an element of the first batch dimension or, if `flat`, of all of them. A lazy stack is several
// parts, one behind the other: its elements.
class RowSource {
 public:
  //
  // Batches have the entries that `keys` name; without keys all.
  RowSource(const TensorDict& td, bool flat, c10::ArrayRef<std::vector<std::string>> keys = {});

  std::int64_t rows() const noexcept { return rows_; }

  // The rows in front of which a new part begins, or a new element of an outer batch dimension: rows on
  // both sides never follow one another. Without the first, with the number of rows as the last.
  const std::vector<std::int64_t>& borders() const noexcept { return borders_; }

  // An entry with a line for each row: [rows, …]. In new memory if there are several parts.
  at::Tensor column(Path path) const;

  // Whether rows move by memcpy: all tensors lie densely, row by row, in memory of the CPU, and all parts are
  // alike. Otherwise pick() makes each batch.
  bool plain() const noexcept { return plain_; }

  // What a batch with these sizes in front of those of a row looks like, over tensors that are yet to be
  // filled: those of `leaves`, in the order of the fields. `leaves` gets new ones where it is empty.
  NodePtr make_batch(SizesView front, std::vector<at::Tensor>& leaves) const;

  // Copies rows to where the fields of a batch begin, one behind the other.
  void copy_rows(c10::ArrayRef<std::int64_t> rows, c10::ArrayRef<char*> targets) const;
  void copy_runs(c10::ArrayRef<Run> runs, c10::ArrayRef<char*> targets) const;

  // Rows of any source in new memory; the batch begins with the sizes of `rows`.
  TensorDict pick(const at::Tensor& rows) const;

 private:
  struct Field {
    std::size_t row_bytes;
    std::vector<const char*> bases;  // of row 0 of each part
    std::int64_t step;               // from row to row of a part
  };
  struct Part {
    TensorDict td;       // what batches are made of
    TensorDict all;      // with the entries that batches do not have
    std::int64_t first;  // its first row
  };

  void add_parts(const NodePtr& node, bool flat, bool whole);
  void add_part(const TensorDict& td);
  bool find_fields();
  std::size_t part_of(std::int64_t row) const noexcept;

  std::vector<std::vector<std::string_view>> keys_;  // valid while this is made
  std::int64_t rows_ = 0;
  std::vector<Part> parts_;
  std::vector<std::int64_t> borders_;
  bool plain_ = false;
  std::vector<Field> fields_;
};

}  // namespace td
