// core/record/writer.h: writes rows of plain memory into fields, for a hot loop.
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

// A row is one element of the batch; several batch dimensions are row-major. bind() looks a field up; put()
// is then a few comparisons and a memcpy, without allocation. Derived classes say where rows go: into the
// tensors of a dictionary (append/tensor_writer.h), or into a growing folder (recorder.h). The hot loop calls
// no virtual function.
class Writer {
 public:
  virtual ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Returns the field's number: 0, 1, 2, … in call order.
  std::int32_t bind(Path path);

  // Like bind(), for a field that must have this dtype and these sizes in each row.
  std::int32_t field(Path path, ShapeView row, DType dtype);

  std::size_t row_bytes(std::int32_t field) const;

  // Copies one field of the current row: exactly row_bytes() bytes, row-major.
  void put(std::int32_t field, const void* data, std::size_t bytes) {
    const auto i = static_cast<std::uint32_t>(field);
    if (i >= fields_.size() || bytes != fields_[i].bytes || row() >= end_) make_room(field, bytes);
    const Field& to = fields_[i];
    char* target = reinterpret_cast<char*>(to.base + static_cast<std::uintptr_t>(row()) * to.step);
    switch (bytes) {  // a constant length compiles to one move
      case 4: std::memcpy(target, data, 4); return;
      case 8: std::memcpy(target, data, 8); return;
      case 0: return;
      case text_bytes: fail_text(field, true);
      default: std::memcpy(target, data, bytes);
    }
  }

  // Puts the text of a field that has one for each row: UTF-8. Allocates if the text is long.
  void put_text(std::int32_t field, std::string_view text);

  void next() {
    if (row() >= end_) make_room();
    const std::int64_t next = row() + 1;
    row_.store(next, std::memory_order_release);
    if (next == end_) window_full();
  }

  // Rows completed by next().
  std::int64_t rows() const noexcept { return row() - first_; }

  // The folder of a growing writer; otherwise empty.
  virtual std::string_view folder() const noexcept = 0;

  // Waits until all rows are stored; each class says where.
  virtual void flush() = 0;

  // Flushes, and releases the dictionary or folder even if that fails. Later puts fail.
  void close();

 protected:
  struct Field {
    std::uintptr_t base;  // address of row 0, possibly outside the buffer
    std::size_t step;     // bytes from row to row
    std::size_t bytes;    // of one row; text_bytes: a row is a std::string
  };
  static constexpr std::size_t text_bytes = static_cast<std::size_t>(-1);

  // The rows from `first` to before `end` can be written without more_rows().
  Writer(std::int64_t first, std::int64_t end) : row_(first), end_(end), first_(first) {}

  bool closed() const noexcept { return closed_; }
  std::int64_t row() const noexcept { return row_.load(std::memory_order_relaxed); }

  virtual Field find_field(Path path) = 0;
  // Checks a field of this dtype and these sizes, and creates it if the class can.
  virtual void declare_field(Path path, ShapeView row, DType dtype) = 0;
  struct Form {
    DType dtype;
    ShapeView row;
  };
  static void require_form(Path path, const Form& found, const Form& wanted);
  // Makes room for more rows, or throws.
  virtual void more_rows() = 0;
  // Called when the last row of the window is complete.
  virtual void window_full() {}
  // Whether more_rows() may make room. If so, the length of a row is checked before the room for it.
  virtual bool can_grow() const noexcept = 0;
  virtual void let_go() noexcept = 0;  // releases the target; later calls find the writer closed
  virtual void before_let_go() {}      // after the flush of close()

  std::vector<Field> fields_;
  std::atomic<std::int64_t> row_;  // the current one; read by the writer's thread
  std::int64_t end_;               // the first row that cannot be written; row() itself once closed
  std::int64_t first_;

 private:
  // The slow path of put() and next() at the end of the rows: makes room or throws.
  void make_room(std::int32_t field, std::size_t bytes);
  void make_room();
  [[noreturn]] void fail_field(std::int32_t field) const;
  [[noreturn]] void fail_text(std::int32_t field, bool is_text) const;

  std::vector<std::string> names_;  // of the fields, for messages
  bool closed_ = false;
};

}  // namespace td::record
