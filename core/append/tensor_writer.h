// core/append/tensor_writer.h: a writer into the tensors of a dictionary.
#pragma once

#include "core/record/writer.h"
#include "core/tree/tensordict.h"

namespace td {

struct WriterOptions {
  std::int64_t first_row = 0;
  std::int64_t capacity = 0;  // rows that may be written from first_row on; 0: up to the last
};

// Fields are tensors stored in the dictionary. Entries created on each read, such as those of a lazy stack,
// cannot be bound: the rows would be lost. They would also be lost if a tensor was moved, mapped, shared or
// replaced meanwhile: flush() and close() report it (Code::wrong_entry).
// Fields that were not put keep their values. Autograd sees the new values after flush() and close().
class TensorWriter final : public record::Writer {
 public:
  explicit TensorWriter(const TensorDict& td, const WriterOptions& options = {});
  ~TensorWriter() override;

  std::string_view folder() const noexcept override { return {}; }

  // Waits until rows in mapped tensors are on disk.
  void flush() override;

 private:
  struct Target {
    at::Tensor tensor;
    std::vector<std::string> path;
  };

  Field find_field(Path path) override;
  void declare_field(Path path, ShapeView row, DType dtype) override;
  [[noreturn]] void more_rows() override;
  bool can_grow() const noexcept override { return false; }
  void let_go() noexcept override;
  void bump_versions() noexcept;
  void require_stored() const;

  std::int64_t limit_;  // end_ when the writer was opened
  Sizes batch_;         // when the writer was opened
  std::vector<Target> targets_;
  TensorDict td_;
};

}  // namespace td
