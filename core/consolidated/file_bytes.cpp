#include "core/consolidated/file_bytes.h"

#include "core/formats/format.h"
#include "core/io/folder.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/foreign.h"
#include "core/tensor/mapped_tensor.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace td {

namespace {

// Bytes from the first element to the end of the last one; nullopt on overflow.
std::optional<std::size_t> extent_of(SizesView sizes, SizesView strides, std::size_t item) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    std::size_t step = 0;
    if (strides[i] < 0 ||
        __builtin_mul_overflow(static_cast<std::size_t>(sizes[i] - 1),
                               static_cast<std::size_t>(strides[i]), &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return std::nullopt;
    }
  }
  if (__builtin_add_overflow(last, item, &last)) return std::nullopt;
  return last;
}

// The size of the numbers to swap: each half of a complex one.
std::size_t number_bytes(c10::ScalarType dtype) noexcept {
  const std::size_t item = c10::elementSize(dtype);
  return c10::isComplexType(dtype) ? item / 2 : item;
}

// Copies strided elements into contiguous memory.
void gather(const char* from, SizesView sizes, SizesView strides, std::size_t item, char* to) {
  std::size_t run = item;  // contiguous bytes
  std::size_t dims = sizes.size();
  while (dims > 0 && strides[dims - 1] == static_cast<std::int64_t>(run)) {
    run *= static_cast<std::size_t>(sizes[--dims]);
  }
  Sizes at(dims, 0);
  for (;;) {
    std::memcpy(to, from, run);
    to += run;
    std::size_t i = dims;
    while (i > 0) {
      --i;
      from += strides[i];
      if (++at[i] < sizes[i]) break;
      from -= strides[i] * sizes[i];
      at[i] = 0;
      if (i == 0) return;
    }
    if (dims == 0) return;
  }
}

}  // namespace

FileBytes FileBytes::open(const std::string& path, bool write_through) {
  if (path.empty()) fail(Code::io, "no such file: the path is empty");
  FileBytes result;
  const std::string name = files::absolute(path);
  result.where_ = "\"" + name + "\"";
  const files::Look look = files::look(name);
  if (look.found == files::Found::nothing) fail(Code::io, "no such file: ", result.where_);
  if (look.found == files::Found::folder) fail(Code::io, result.where_, " is a folder");
  result.file_ = MappedFile::open(name, static_cast<std::size_t>(look.bytes),
                                  write_through ? MapMode::shared : MapMode::priv);
  if (write_through && !result.file_->writes_through()) {
    fail(Code::io, result.where_, " is not writable, and writes must reach it");
  }
  result.data_ = result.file_->data();
  result.bytes_ = result.file_->bytes();
  result.write_through_ = write_through;
  return result;
}

FileBytes::FileBytes(char* data, std::size_t bytes, std::shared_ptr<void> owner, std::string where)
    : data_(data), bytes_(bytes), owner_(std::move(owner)), where_(std::move(where)) {}

FileBytes FileBytes::part(std::size_t start, std::size_t bytes, std::string where) const {
  if (start > bytes_ || bytes > bytes_ - start) {
    fail(Code::internal, where_, ": ", bytes, " bytes at ", start, " of ", bytes_);
  }
  FileBytes result(*this);
  result.data_ = bytes_ == 0 ? nullptr : data_ + start;
  result.bytes_ = bytes;
  result.where_ = std::move(where);
  return result;
}

void FileBytes::require_copies(const std::string& what) const {
  if (!write_through_) return;
  fail(Code::unsupported, where_, ": ", what,
       " needs a copy, and then writes would not reach the file");
}

c10::Storage FileBytes::storage() const {
  const std::int64_t count = static_cast<std::int64_t>(bytes_);
  if (file_) {
    const auto start = bytes_ == 0 ? 0 : static_cast<std::size_t>(data_ - file_->data());
    return mapped_tensor(file_, start, {count}, at::kByte).storage();
  }
  return from_memory(data_, at::kByte, {count}, std::nullopt, c10::Device(c10::DeviceType::CPU),
                     owner_)
      .storage();
}

at::Tensor FileBytes::tensor(std::size_t start, SizesView sizes, SizesView byte_strides,
                             c10::ScalarType dtype, bool swapped, std::string_view name) const {
  const std::size_t item = c10::elementSize(dtype);
  const std::optional<std::int64_t> need = checked_bytes(sizes, item);
  if (!need) {
    fail(Code::format, where_, ": ", quote(name), " has shape ", show_sizes(sizes),
         ", which is too large");
  }
  const Sizes dense = dense_strides(sizes, item);
  const SizesView strides = byte_strides.empty() ? SizesView(dense) : byte_strides;
  const std::optional<std::size_t> extent = extent_of(sizes, strides, item);
  if (!extent || start > bytes_ || *extent > bytes_ - start) {
    fail(Code::format, where_, ": ", quote(name), " of shape ", show_sizes(sizes),
         " reaches beyond the end at byte ", bytes_);
  }
  const bool turn = swapped && number_bytes(dtype) > 1;
  bool aligned = *need == 0 || reinterpret_cast<std::uintptr_t>(data_ + start) % item == 0;
  for (const std::int64_t stride : strides) {
    aligned = aligned && stride % static_cast<std::int64_t>(item) == 0;
  }
  if (aligned && !turn) {
    Sizes steps(strides.begin(), strides.end());
    for (std::int64_t& step : steps) step /= static_cast<std::int64_t>(item);
    return over_storage(part(start, *extent, {}).storage(), 0, sizes, steps, dtype);
  }
  require_copies(quote(name));
  // Refuse strides of 0: a small file could stand for a huge tensor.
  if (static_cast<std::size_t>(*need) > *extent) {
    fail(Code::format, where_, ": ", quote(name), " of shape ", show_sizes(sizes),
         " is more than the file holds");
  }
  at::Tensor result = at::empty(sizes, dtype);
  if (*need == 0) return result;
  char* to = static_cast<char*>(result.data_ptr());
  gather(data_ + start, sizes, strides, item, to);
  if (turn) swap_bytes(to, static_cast<std::size_t>(*need), dtype);
  return result;
}

at::Tensor over_storage(const c10::Storage& storage, std::size_t start, SizesView sizes,
                        SizesView strides, c10::ScalarType dtype) {
  auto impl = c10::make_intrusive<c10::TensorImpl>(c10::Storage(storage),
                                                   c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                   c10::scalarTypeToTypeMeta(dtype));
  impl->set_storage_offset(static_cast<std::int64_t>(start / c10::elementSize(dtype)));
  impl->set_sizes_and_strides(sizes, strides);
  return at::Tensor(std::move(impl));
}

void swap_bytes(char* data, std::size_t bytes, c10::ScalarType dtype) noexcept {
  const std::size_t item = number_bytes(dtype);
  for (std::size_t at = 0; item > 1 && at + item <= bytes; at += item) {
    std::reverse(data + at, data + at + item);
  }
}

void write_values(const at::Tensor& tensor,
                  const std::function<void(const char* data, std::size_t bytes)>& write) {
  constexpr std::size_t piece = std::size_t{16} << 20;
  const std::size_t bytes = bytes_of(tensor);
  if (bytes == 0) return;
  const bool ready = fast::plain_cpu(tensor) && tensor.is_contiguous();
  if (ready || tensor.dim() == 0 || bytes <= piece || tensor.size(0) == 1) {
    const at::Tensor values = plain_values(tensor);
    write(static_cast<const char*>(values.data_ptr()), bytes);
    return;
  }
  const std::int64_t all = tensor.size(0);
  const auto rows = static_cast<std::int64_t>(
      std::max<std::size_t>(1, piece / (bytes / static_cast<std::size_t>(all))));
  for (std::int64_t first = 0; first < all; first += rows) {
    const at::Tensor values = plain_values(tensor.narrow(0, first, std::min(rows, all - first)));
    write(static_cast<const char*>(values.data_ptr()), bytes_of(values));
  }
}

void write_values(files::NewFile& file, const at::Tensor& tensor) {
  write_values(tensor, [&](const char* data, std::size_t bytes) { file.write(data, bytes); });
}

std::string new_file_path(const std::string& path) {
  if (path.empty()) fail(Code::io, "no such file: the path is empty");
  std::string target = files::absolute(path);
  if (files::look(target).found == files::Found::folder) {
    fail(Code::io, "\"", target, "\" exists and is a folder");
  }
  return target;
}

}  // namespace td
