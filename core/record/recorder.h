// core/record/recorder.h: a writer into a growing folder.
#pragma once

#include "core/record/recording.h"
#include "core/record/writer.h"

#include <memory>

namespace td::record {

// Buffers rows and writes the buffer to files when it is full. Missing fields are zeros. If next() throws
// because the files have no room, the rows are kept and written later.
class Recorder final : public Writer {
 public:
  // Appends to a folder. Creates it with these fields if it is missing; an existing one must have exactly
  // these fields. Without fields it must exist. Code::busy while another writer works on it.
  static std::unique_ptr<Recorder> open(const std::string& dir,
                                        const std::vector<FieldForm>& fields,
                                        const Options& options = {});

  explicit Recorder(std::unique_ptr<Recording> recording);
  ~Recorder() override;

  std::string_view folder() const noexcept override { return folder_; }

  // Publishes the rows to all readers; on disk if opened with `durable`.
  void flush() override;

 private:
  Field find_field(Path path) override;
  void declare_field(Path path, ShapeView row, DType dtype) override;
  void more_rows() override;
  void window_full() override;
  bool can_grow() const noexcept override { return true; }
  void let_go() noexcept override;
  void before_let_go() override;
  using Want = Recording::Want;
  void grow(Want want);
  void take(const Recording::Window& window);

  std::unique_ptr<Recording> recording_;
  std::string folder_;
  std::int64_t window_ = 0;  // first row in the buffer
};

}  // namespace td::record
