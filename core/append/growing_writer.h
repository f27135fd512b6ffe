// core/append/growing_writer.h: a writer into a folder that grows.
#pragma once

#include "core/append/growth.h"
#include "core/append/writer.h"

#include <memory>

namespace td {

// Memory that is emptied into files whenever it is full. Fields that were not put are zeros. Rows count even
// when next() throws: the files then had no room for them, and are tried again.
class GrowingWriter final : public Writer {
 public:
  explicit GrowingWriter(std::unique_ptr<Growth> growth);
  ~GrowingWriter() override;

  std::string_view folder() const noexcept override { return folder_; }

  // Publishes the rows for everybody; on the disk they are when the writer was opened so.
  void flush() override;

 private:
  Field find_field(Path path) override;
  void declare_field(Path path, SizesView row, c10::ScalarType dtype) override;
  void more_rows() override;
  void window_full() override;
  bool can_grow() const noexcept override { return true; }
  void let_go() noexcept override;
  void before_let_go() override;
  using Want = Growth::Want;
  void grow(Want want);
  void take(const Growth::Window& window);

  std::unique_ptr<Growth> growth_;
  std::string folder_;
  std::int64_t window_ = 0;  // the row that the memory begins with
};

}  // namespace td
