// core/replay/ring.h: a ring of rows: new rows replace the oldest.
#pragma once

#include "core/loader/row_source.h"

#include <memory>
#include <string>
#include <vector>

namespace td {

// The state of a ring.
struct RingCounts {
  std::int64_t capacity = 0;
  std::int64_t length = 0;   // places with a row
  std::int64_t cursor = 0;   // the next row's place
  std::int64_t written = 0;  // rows ever written
  // Places from the cursor on that are being written. A writer that died leaves them incomplete.
  std::int64_t gap = 0;

  bool full() const noexcept { return length == capacity; }
  // The number of complete rows, and the place of the k-th, oldest first.
  std::int64_t whole() const noexcept { return full() ? capacity - gap : length; }
  std::int64_t place(std::int64_t k) const noexcept {
    return full() ? (cursor + gap + k) % capacity : k;
  }
  std::int64_t number(std::int64_t place) const noexcept {  // k of place(k)
    return full() ? (place - cursor - gap + 2 * capacity) % capacity : place;
  }
  bool in_gap(std::int64_t place) const noexcept {
    return full() && (place - cursor + capacity) % capacity < gap;
  }
  // The state after more rows.
  RingCounts after(std::int64_t rows) const noexcept;

  bool operator==(const RingCounts& other) const noexcept;

  // Throws Code::format if the counts contradict each other.
  void check(const std::string& where) const;
};

// Checked rows that fit the ring.
struct NewRows {
  std::int64_t count = 0;
  std::vector<at::Tensor> leaves;  // dense, on the CPU; undefined: the ring fills them
};

// The memory of a ring. The ring itself fills an int64 entry "index" of one number per element: the row's
// number.
class RingRows {
 public:
  // `td` has one row for each place, on the CPU. `places_of_row` places share a number in "index".
  explicit RingRows(TensorDict td, std::int64_t places_of_row = 1);

  // Zeros for `capacity` rows like these; shape_like() allocates no memory for them.
  static TensorDict like(const TensorDict& rows, std::int64_t capacity);
  static TensorDict shape_like(const TensorDict& rows, std::int64_t capacity);

  const TensorDict& dict() const noexcept { return td_; }
  std::int64_t places_of_row() const noexcept { return places_of_row_; }
  const std::shared_ptr<const RowSource>& source() const noexcept { return source_; }

  // `single`: the dictionary is one row. Throws Code::key_not_found, wrong_entry, dtype, shape, unsupported.
  NewRows match(const TensorDict& td, bool single) const;

  // Copies rows from `first` on to the places from `place` on, wrapping around.
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
  std::string not_writable_;  // the reason why rows cannot be written; empty: they can
};

}  // namespace td
