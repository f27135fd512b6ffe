// core/record/writer.h: rows of plain memory into fields that are found once, for a hot loop.
#pragma once

#include "core/base/key.h"
#include "core/base/sizes.h"
#include "core/formats/dtypes.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace td::record {

// A row is one element of the batch; with several batch dimensions rows follow in row-major order.
// bind() finds a field; put() is then a few comparisons and a memcpy, and allocates nothing. Where rows
// go is said by a kind of writer: into the tensors of a dictionary (append/tensor_writer.h), or into a
// folder that grows (recorder.h). None of the functions of the hot loop is virtual.
class Writer {
 public:
  virtual ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Gives a field a number: 0, 1, 2, ... in the order of the calls.
  std::int32_t bind(Path path);

  // The same for a field that must be of this dtype and of these sizes in each row.
  std::int32_t field(Path path, ShapeView row, DType dtype);

  std::size_t row_bytes(std::int32_t field) const;

  // Copies one field of the current row: row-major values, exactly row_bytes() of them.
  void put(std::int32_t field, const void* data, std::size_t bytes) {
    const auto i = static_cast<std::uint32_t>(field);
    if (i >= fields_.size() || bytes != fields_[i].bytes || row() >= end_) make_room(field, bytes);
    const Field& to = fields_[i];
    char* target = reinterpret_cast<char*>(to.base + static_cast<std::uintptr_t>(row()) * to.step);
    switch (bytes) {  // lengths known to the compiler are one move
      case 4: std::memcpy(target, data, 4); return;
      case 8: std::memcpy(target, data, 8); return;
      case 0: return;
      default: std::memcpy(target, data, bytes);
    }
  }

  // Moves on to the next row.
  void next() {
    if (row() >= end_) make_room();
    const std::int64_t next = row() + 1;
    row_.store(next, std::memory_order_release);
    if (next == end_) window_full();
  }

  // Rows completed by next().
  std::int64_t rows() const noexcept { return row() - first_; }

  // The folder of a growing writer; empty for others.
  virtual std::string_view folder() const noexcept = 0;

  // Waits until what was put has arrived; each kind says where.
  virtual void flush() = 0;

  // Flushes, and lets go of the dictionary or the folder, also when that fails. Further puts fail.
  void close();

 protected:
  struct Field {
    std::uintptr_t base;  // the address of row 0, which need not be in reach
    std::size_t step;     // bytes from row to row
    std::size_t bytes;    // of one row
  };

  // Rows from `first` to before `end` may be written at once.
  Writer(std::int64_t first, std::int64_t end) : row_(first), end_(end), first_(first) {}

  bool closed() const noexcept { return closed_; }
  std::int64_t row() const noexcept { return row_.load(std::memory_order_relaxed); }

  virtual Field find_field(Path path) = 0;
  // Makes a field of this dtype and these sizes where it can and there is none, and checks it.
  virtual void declare_field(Path path, ShapeView row, DType dtype) = 0;
  struct Form {
    DType dtype;
    ShapeView row;
  };
  static void require_form(Path path, const Form& found, const Form& wanted);
  // No row is left: makes room for more, or throws.
  virtual void more_rows() = 0;
  // The last row has been completed.
  virtual void window_full() {}
  // Whether more_rows() may make room: then a wrong length is told first.
  virtual bool can_grow() const noexcept = 0;
  virtual void let_go() noexcept = 0;  // of what the writer holds; only closed writers are asked
  virtual void before_let_go() {}      // after the flush of close()

  std::vector<Field> fields_;
  std::atomic<std::int64_t>
      row_;           // the current one; another thread may ask which rows are complete
  std::int64_t end_;  // the first row that may not be written; row() itself once closed
  std::int64_t first_;

 private:
  // What put() and next() leave to do at the end of the rows: room is made, or they fail.
  void make_room(std::int32_t field, std::size_t bytes);
  void make_room();
  [[noreturn]] void fail_field(std::int32_t field) const;

  std::vector<std::string> names_;  // of the fields, for messages
  bool closed_ = false;
};

}  // namespace td::record
