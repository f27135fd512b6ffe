#include "core/tensor/mapped_tensor.h"

#include "core/base/quote.h"
#include "core/tensor/fast_path.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace td {

namespace {

// The context of a storage's memory. Its deleter marks mapped storages.
using Holder = std::shared_ptr<MappedFile>;

void release(void* context) { delete static_cast<Holder*>(context); }

}  // namespace

at::Tensor mapped_tensor(std::shared_ptr<MappedFile> file, std::size_t offset, SizesView sizes,
                         c10::ScalarType dtype) {
  std::size_t bytes = c10::elementSize(dtype);
  for (const std::int64_t size : sizes) bytes *= static_cast<std::size_t>(size);
  if (offset > file->bytes() || bytes > file->bytes() - offset) {
    fail(Code::internal, "a tensor of ", bytes, " bytes at ", offset, " in a mapping of ",
         file->bytes());
  }
  char* data = bytes == 0 ? nullptr : file->data() + offset;
  at::DataPtr memory(data, new Holder(std::move(file)), &release, c10::DeviceType::CPU);
  return fast::over_memory(std::move(memory), bytes, dtype, sizes);
}

const MappedFile* mapping_of(const at::Tensor& tensor) noexcept {
  if (!tensor.defined() || !tensor.has_storage()) return nullptr;
  try {
    const at::DataPtr& pointer = tensor.storage().data_ptr();
    if (pointer.get_deleter() != &release) return nullptr;
    return static_cast<const Holder*>(pointer.get_context())->get();
  } catch (...) {
    return nullptr;  // the storage hides its memory, so it is not ours
  }
}

at::Tensor archive_tensor(const zip_file::MappedArchive& archive, const zip_file::Entry& entry,
                          std::size_t skip, SizesView sizes, c10::ScalarType dtype) {
  const zip_file::Reader& reader = archive.reader();
  std::uint64_t bytes = c10::elementSize(dtype);
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) {
      fail(Code::format, reader.where(), ": ", quote(entry.name), ": a shape that is too large");
    }
  }
  if (skip > entry.bytes || bytes > entry.bytes - skip) {
    fail(Code::format, reader.where(), ": ", quote(entry.name), " is too short: ", bytes,
         " bytes expected, ", entry.bytes - std::min<std::uint64_t>(skip, entry.bytes), " found");
  }
  const at::TensorOptions options = at::TensorOptions(dtype).device(c10::DeviceType::CPU);
  const bool in_place = entry.method == zip_file::method_stored &&
                        (entry.offset + skip) % c10::elementSize(dtype) == 0;
  if (in_place) {
    if (archive.writable()) return mapped_tensor(archive.file(), entry.offset + skip, sizes, dtype);
    // Without write-through the tensor is not marked as mapped.
    if (bytes == 0) return at::empty(sizes, options);
    const auto let_go = [](void* held) { delete static_cast<Holder*>(held); };
    return fast::over_memory({archive.file()->data() + entry.offset + skip,
                              new Holder(archive.file()), let_go, c10::DeviceType::CPU},
                             bytes, dtype, sizes);
  }
  if (archive.writable()) {
    fail(Code::unsupported, reader.where(), ": ", quote(entry.name),
         " is compressed or not aligned: writes to it cannot reach the file");
  }
  at::Tensor result = at::empty(sizes, options);
  char* to = static_cast<char*>(result.data_ptr());
  if (entry.method == zip_file::method_stored) {
    if (bytes != 0) std::memcpy(to, archive.file()->data() + entry.offset + skip, bytes);
  } else if (skip == 0 && bytes == entry.bytes) {
    reader.read(entry, to);
  } else {
    const std::unique_ptr<char[]> whole(new char[entry.bytes]);
    reader.read(entry, whole.get());
    if (bytes != 0) std::memcpy(to, whole.get() + skip, bytes);
  }
  return result;
}

}  // namespace td
