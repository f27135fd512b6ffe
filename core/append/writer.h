// core/append/writer.h: rows of plain memory into the tensors of a dictionary, for a hot loop.
#pragma once

#include "core/tree/tensordict.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace td {

class Growth;

struct WriterOptions {
  std::int64_t first_row = 0;
  std::int64_t capacity = 0;  // rows that may be written, from first_row; 0: up to the last
};

// A row is one element of the batch; with several batch dimensions rows follow in row-major order.
// Tensors are found once, by bind(); put() is then a few comparisons and a memcpy, and allocates
// nothing. Autograd learns of the new values at flush() and close().
//
// A growing writer, core/append/grow.h, is the same with memory that is emptied into files whenever it is full.
class Writer {
 public:
  explicit Writer(const TensorDict& td, const WriterOptions& options = {});
  explicit Writer(std::unique_ptr<Growth> growth);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Gives a tensor a number: 0, 1, 2 … in the order of the calls.
  std::int32_t bind(Path path);

  // The same for a tensor that must be of this dtype and of these sizes in each row; made of zeros where the
  // dictionary has no such entry yet.
  std::int32_t field(Path path, SizesView row, c10::ScalarType dtype);

  std::size_t row_bytes(std::int32_t field) const;

  // Copies one field of the current row: row-major values, exactly row_bytes() of them.
  void put(std::int32_t field, const void* data, std::size_t bytes) {
    const auto i = static_cast<std::uint32_t>(field);
    if (i >= fields_.size() || bytes != fields_[i].bytes || row_ >= end_) go_on(field, bytes);
    const Field& to = fields_[i];
    char* target = to.base + row_ * to.step;
    switch (bytes) {  // lengths known to the compiler are one move
      case 4: std::memcpy(target, data, 4); return;
      case 8: std::memcpy(target, data, 8); return;
      case 0: return;
      default: std::memcpy(target, data, bytes);
    }
  }

  // Moves on to the next row. Fields that were not put keep what was there; zeros in a growing writer,
  // whose rows count even when this throws: the files then had no room for them, and are tried again.
  void next() {
    if (row_ >= end_) go_on();
    if (++row_ == end_ && growth_ != nullptr) grow(/*publish=*/false);
  }

  // Rows completed by next().
  std::int64_t rows() const noexcept { return before_ + row_ - first_; }

  // The folder of a growing writer; empty for others.
  const std::string& folder() const noexcept { return folder_; }

  // Waits until what was put is on the disk. Of a growing writer: publishes the rows; on the disk they
  // are when it was opened so.
  void flush();

  // Flushes, and lets go of the dictionary or the folder. Further puts fail.
  void close();

 private:
  struct Field {
    char* base;         // of row 0
    std::int64_t step;  // bytes from row to row
    std::size_t bytes;  // of one row
  };

  // What put() and next() leave to do at the end of the rows: room is made, or they fail.
  void go_on(std::int32_t field, std::size_t bytes);
  void go_on();
  void grow(bool publish);
  std::int32_t bind_growing(Path path);
  std::int32_t add(Path path, Field field);
  [[noreturn]] void fail_field(std::int32_t field) const;
  void bump_versions() noexcept;

  std::vector<Field> fields_;
  std::vector<std::string> names_;  // of the fields, for messages
  std::int64_t row_;
  std::int64_t end_;  // the first row that may not be written; row_ itself once closed
  std::int64_t first_;
  std::int64_t limit_;               // what end_ was when the writer was opened
  Sizes batch_;                      // when the writer was opened: what the rows were counted for
  std::vector<at::Tensor> tensors_;  // of the fields
  TensorDict td_;
  std::unique_ptr<Growth> growth_;
  std::int64_t before_ = 0;  // rows of a growing writer that are no longer in its memory
  std::string folder_;
  bool closed_ = false;
};

}  // namespace td
