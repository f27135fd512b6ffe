// core/append/tensor_writer.h: a writer into the tensors of a dictionary.
#pragma once

#include "core/record/writer.h"
#include "core/tree/tensordict.h"

namespace td {

struct WriterOptions {
  std::int64_t first_row = 0;
  std::int64_t capacity = 0;  // rows that may be written, from first_row; 0: up to the last
};

// Fields are tensors that the dictionary stores. What it makes anew for each reading, such as an entry of a
// lazy stack, cannot be bound: rows would go to memory that nobody reads. The same is true of a tensor that
// has been moved, mapped, shared or replaced since; flush() and close() tell (Code::wrong_entry).
//
// Fields that were not put keep what was there. Autograd learns of the new values at flush() and close().
class TensorWriter final : public record::Writer {
 public:
  explicit TensorWriter(const TensorDict& td, const WriterOptions& options = {});
  ~TensorWriter() override;

  std::string_view folder() const noexcept override { return {}; }

  // Waits until what was put into mapped tensors is on the disk.
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

  std::int64_t limit_;  // what end_ was when the writer was opened
  Sizes batch_;         // when the writer was opened: what the rows were counted for
  std::vector<Target> targets_;
  TensorDict td_;
};

}  // namespace td
