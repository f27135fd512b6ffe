// core/replay/ring.h: rows of a fixed number of places; the oldest make room for new ones.
#pragma once

#include "core/loader/row_source.h"

#include <memory>
#include <string>
#include <vector>

namespace td {

// Where a ring stands.
struct RingCounts {
  std::int64_t capacity = 0;
  std::int64_t length = 0;   // places that hold a row
  std::int64_t cursor = 0;   // the place of the next row
  std::int64_t written = 0;  // rows ever
  // Places from the cursor on that somebody is writing. Left by one that died, they hold halves of rows.
  std::int64_t gap = 0;

  bool full() const noexcept { return length == capacity; }
  // Places that hold whole rows, and the k-th of them from the oldest on.
  std::int64_t whole() const noexcept { return full() ? capacity - gap : length; }
  std::int64_t place(std::int64_t k) const noexcept {
    return full() ? (cursor + gap + k) % capacity : k;
  }
  bool in_gap(std::int64_t place) const noexcept {
    return full() && (place - cursor + capacity) % capacity < gap;
  }
  // The same after more rows.
  RingCounts after(std::int64_t rows) const noexcept;

  bool operator==(const RingCounts& other) const noexcept;

  // Throws Code::format when no ring can stand so.
  void check(const std::string& where) const;
};

// Rows of a caller, checked: they fit the places of a ring.
struct NewRows {
  std::int64_t count = 0;
  std::vector<at::Tensor> leaves;  // dense, on the CPU; undefined where the ring knows better
};

// The memory of a ring. An entry "index" of one int64 for each element of a row is the ring's: it says which row
// it is.
class RingRows {
 public:
  // `td` has one row for each place, on the CPU. So many places are one row for "index".
  explicit RingRows(TensorDict td, std::int64_t places_of_row = 1);

  // Memory of zeros whose rows are like those of `rows`, and the same without memory of its own.
  static TensorDict like(const TensorDict& rows, std::int64_t capacity);
  static TensorDict shape_like(const TensorDict& rows, std::int64_t capacity);

  const TensorDict& dict() const noexcept { return td_; }
  const std::shared_ptr<const RowSource>& source() const noexcept { return source_; }

  // `single`: the dictionary is a row itself. Throws Code::key_not_found, wrong_entry, dtype, shape,
  // unsupported.
  NewRows match(const TensorDict& td, bool single) const;

  // Rows from `first` on to the places from `place` on, around the end.
  void write(const NewRows& rows, std::int64_t first, std::int64_t count,
             std::int64_t place) const noexcept;

 private:
  struct Field {
    std::vector<std::string> path;
    at::Tensor leaf;  // of all places
    std::size_t row_bytes = 0;
    bool is_index = false;
  };
  at::Tensor matched(const Field& field, const TensorDict& td, bool single,
                     std::int64_t& count) const;

  TensorDict td_;
  std::int64_t places_of_row_;
  std::shared_ptr<const RowSource> source_;
  std::vector<Field> fields_;
  std::string not_writable_;  // why rows cannot be written; empty: they can
};

}  // namespace td
