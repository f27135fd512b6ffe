// core/loader/row_source.h: locates the rows of a dictionary and copies them into a batch.
#pragma once

#include "core/tree/tensordict.h"

#include <vector>

namespace td {

// Consecutive rows.
struct Run {
  std::int64_t first, length;
};

// A snapshot of a dictionary as rows: its own nodes over the same tensors, which it keeps alive. Later
// changes to the dictionary have no effect. Threads may share it.
// A row is an element of the first batch dimension or, if `flat`, of all. A lazy stack consists of several
// parts, its elements, one after the other.
class RowSource {
 public:
  // Batches have the entries in `keys`; empty: all.
  RowSource(const TensorDict& td, bool flat, c10::ArrayRef<std::vector<std::string>> keys = {});

  std::int64_t rows() const noexcept { return rows_; }

  // The first row of each part, and of each element of an outer batch dimension: rows on both sides are never
  // consecutive. Omits 0 and ends with the number of rows.
  const std::vector<std::int64_t>& borders() const noexcept { return borders_; }

  // An entry as [rows, …]; copied if there are several parts.
  at::Tensor column(Path path) const;

  // Whether rows can be copied by memcpy: all tensors are dense, row-major and on the CPU, and all parts are
  // alike. Otherwise use pick().
  bool plain() const noexcept { return plain_; }

  // A batch with these sizes in front of a row's, over `leaves` in field order, whose values are yet to be
  // filled in. Adds new tensors if `leaves` is empty.
  NodePtr make_batch(SizesView front, std::vector<at::Tensor>& leaves) const;

  // Copies rows one after the other to the targets, one for each field.
  void copy_rows(c10::ArrayRef<std::int64_t> rows, c10::ArrayRef<char*> targets) const;
  void copy_runs(c10::ArrayRef<Run> runs, c10::ArrayRef<char*> targets) const;

  // Rows of any source in new memory; `rows` gives the batch's first sizes.
  TensorDict pick(const at::Tensor& rows) const;

 private:
  struct Field {
    std::size_t row_bytes;
    std::vector<const char*> bases;  // of row 0 of each part
    std::int64_t step;               // in bytes, between rows of a part
  };
  struct Part {
    TensorDict td;       // with the batches' entries
    TensorDict all;      // with all entries
    std::int64_t first;  // its first row
  };

  void add_parts(const NodePtr& node, bool flat, bool whole);
  void add_part(const TensorDict& td);
  bool find_fields();
  std::size_t part_of(std::int64_t row) const noexcept;

  std::vector<std::vector<std::string_view>> keys_;  // valid during construction
  std::int64_t rows_ = 0;
  std::vector<Part> parts_;
  std::vector<std::int64_t> borders_;
  bool plain_ = false;
  std::vector<Field> fields_;
};

}  // namespace td
