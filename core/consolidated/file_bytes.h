// core/consolidated/file_bytes.h: the bytes of a file, or of memory, and tensors over them. The readers of other
// people's files work on these.
#pragma once

#include "core/io/file_io.h"
#include "core/io/mapped_file.h"
#include "core/io/new_file.h"
#include "core/tensor/sizes.h"
#include "core/tensor/strides.h"

#include <c10/core/Storage.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace td {

class FileBytes {
 public:
  // Maps a whole file. With `write_through`, what is written to the tensors reaches it: Code::io when
  // it cannot be written, and tensors that would have to be copied are refused.
  static FileBytes open(const std::string& path, bool write_through);

  // Memory that `owner` keeps alive. `where` begins the messages.
  FileBytes(char* data, std::size_t bytes, std::shared_ptr<void> owner, std::string where);

  // A part of them.
  FileBytes part(std::size_t start, std::size_t bytes, std::string where) const;

  char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }
  std::string_view text() const noexcept { return {data_, bytes_}; }
  const std::string& where() const noexcept { return where_; }
  bool writes_through() const noexcept { return write_through_; }

  // Throws Code::unsupported when the bytes are to be written through: `what` has to be copied.
  void require_copies(const std::string& what) const;

  // All of them as a storage, without a copy.
  c10::Storage storage() const;

  // Elements from byte `start` on, with strides in bytes (none: row-major). Without a copy where each
  // element lies at a multiple of its size, else a tensor of its own; `swapped`: the bytes of each
  // number stand in the other order. Throws Code::format when anything lies beyond the end. `name` is
  // for messages.
  at::Tensor tensor(std::size_t start, SizesView sizes, SizesView byte_strides,
                    c10::ScalarType dtype, bool swapped, std::string_view name) const;

 private:
  FileBytes() = default;

  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::shared_ptr<MappedFile> file_;
  std::shared_ptr<void> owner_;
  std::string where_;
  bool write_through_ = false;
};

// A tensor over a storage; strides count elements, `start` bytes.
at::Tensor over_storage(const c10::Storage& storage, std::size_t start, SizesView sizes,
                        SizesView strides, c10::ScalarType dtype);

// Turns the bytes of each number around.
void swap_bytes(char* data, std::size_t bytes, c10::ScalarType dtype) noexcept;

// Gives the values of a tensor to `write`, row-major, in pieces when they have to be copied first.
void write_values(const at::Tensor& tensor,
                  const std::function<void(const char* data, std::size_t bytes)>& write);
void write_values(files::NewFile& file, const at::Tensor& tensor);

// The absolute path of a file to be written; Code::io when it is empty or names a folder.
std::string new_file_path(const std::string& path);

}  // namespace td
