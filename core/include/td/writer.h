// td/writer.h: rows of plain memory into the tensors of a dictionary, for a hot loop.
#pragma once

#include "td/tensordict.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace td {

struct WriterOptions {
  std::int64_t first_row = 0;
  std::int64_t capacity = 0;  // rows that may be written, from first_row; 0: up to the last
};

// A row is one element of the batch; with several batch dimensions rows follow in row-major order.
// Tensors are found once, by bind(); put() is then a few comparisons and a memcpy, and allocates
// nothing. Autograd learns of the new values at flush() and close().
class Writer {
 public:
  explicit Writer(const TensorDict& td, const WriterOptions& options = {});
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Gives a tensor a number: 0, 1, 2 … in the order of the calls.
  std::int32_t bind(Path path);

  std::size_t row_bytes(std::int32_t field) const;

  // Copies one field of the current row: row-major values, exactly row_bytes() of them.
  void put(std::int32_t field, const void* data, std::size_t bytes) {
    const auto i = static_cast<std::uint32_t>(field);
    if (i >= fields_.size() || bytes != fields_[i].bytes || row_ >= end_) fail_put(field, bytes);
    const Field& to = fields_[i];
    char* target = to.base + row_ * to.step;
    switch (bytes) {  // lengths known to the compiler are one move
      case 4: std::memcpy(target, data, 4); return;
      case 8: std::memcpy(target, data, 8); return;
      case 0: return;
      default: std::memcpy(target, data, bytes);
    }
  }

  // Moves on to the next row. Fields that were not put keep what was there.
  void next() {
    if (row_ >= end_) fail_next();
    ++row_;
  }

  // Rows completed by next().
  std::int64_t rows() const noexcept { return row_ - first_; }

  // Waits until what was put is on the disk.
  void flush();

  // Flushes, and lets go of the dictionary. Further puts fail.
  void close();

 private:
  struct Field {
    char* base;         // of row 0
    std::int64_t step;  // bytes from row to row
    std::size_t bytes;  // of one row
  };

  [[noreturn]] void fail_put(std::int32_t field, std::size_t bytes) const;
  [[noreturn]] void fail_next() const;
  [[noreturn]] void fail_field(std::int32_t field) const;
  void bump_versions() noexcept;

  std::vector<Field> fields_;
  std::int64_t row_;
  std::int64_t end_;  // the first row that may not be written; row_ itself once closed
  std::int64_t first_;
  std::int64_t limit_;               // what end_ was when the writer was opened
  Sizes batch_;                      // when the writer was opened: what the rows were counted for
  std::vector<at::Tensor> tensors_;  // of the fields
  TensorDict td_;
  bool closed_ = false;
};

}  // namespace td
