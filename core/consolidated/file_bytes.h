// core/consolidated/file_bytes.h: the bytes of a file or of memory, and tensors over them. Used by
// the readers of other formats.
#pragma once

#include "core/io/file_io.h"
#include "core/io/mapped_file.h"
#include "core/io/new_file.h"
#include "core/tensor/sizes.h"
#include "core/tensor/strides.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace td {

class FileBytes {
 public:
  // Maps a whole file. With `write_through`, writes to the tensors reach it: Code::io if it is not
  // writable, and tensors that need a copy are refused.
  static FileBytes open(const std::string& path, bool write_through);

  // Memory kept alive by `owner`. `where` begins the messages.
  FileBytes(char* data, std::size_t bytes, std::shared_ptr<void> owner, std::string where);

  // A range of the bytes.
  FileBytes part(std::size_t start, std::size_t bytes, std::string where) const;

  char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }
  std::string_view text() const noexcept { return {data_, bytes_}; }
  const std::string& where() const noexcept { return where_; }
  // Of the whole file; empty for a part, and for memory.
  std::string path() const { return file_ && bytes_ == file_->bytes() ? file_->path() : ""; }
  bool writes_through() const noexcept { return write_through_; }

  // Throws Code::unsupported with `write_through`: `what` needs a copy.
  void require_copies(const std::string& what) const;

  // All bytes as a storage, without a copy.
  c10::Storage storage() const;

  // A tensor of the elements from byte `start` on. Strides count bytes (empty: contiguous);
  // `swapped` reverses the bytes of each number. Copies only if the elements are misaligned or
  // swapped. Throws Code::format for elements beyond the end. `name` is for messages.
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

// A tensor over a storage; strides count elements, `start` counts bytes.
at::Tensor over_storage(const c10::Storage& storage, std::size_t start, SizesView sizes,
                        SizesView strides, c10::ScalarType dtype);

// Reverses the bytes of each number.
void swap_bytes(char* data, std::size_t bytes, c10::ScalarType dtype) noexcept;

// Passes a tensor's values to `write` in row-major order, in pieces if they must be copied first.
void write_values(const at::Tensor& tensor,
                  const std::function<void(const char* data, std::size_t bytes)>& write);
void write_values(files::NewFile& file, const at::Tensor& tensor);

// The absolute path of a file to write; Code::io if it is empty or names a folder.
std::string new_file_path(const std::string& path);

}  // namespace td
