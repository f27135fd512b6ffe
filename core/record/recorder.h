// core/record/recorder.h: a writer into a folder that grows.
#pragma once

#include "core/record/recording.h"
#include "core/record/writer.h"

#include <memory>

namespace td::record {

// Memory that is emptied into files whenever it is full. Fields that were not put are zeros. Rows count even
// when next() throws: the files then had no room for them, and are tried again.
class Recorder final : public Writer {
 public:
  // Behind the rows of a folder. Where there is none it is made with these fields; one that is there must
  // have exactly them, and with no fields it must be there. Code::busy while another writer works on it.
  static std::unique_ptr<Recorder> open(const std::string& dir,
                                        const std::vector<FieldForm>& fields,
                                        const Options& options = {});

  explicit Recorder(std::unique_ptr<Recording> recording);
  ~Recorder() override;

  std::string_view folder() const noexcept override { return folder_; }

  // Publishes the rows for everybody; on the disk they are when the writer was opened so.
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
  std::int64_t window_ = 0;  // the row that the memory begins with
};

}  // namespace td::record
