// core/tensor/mapped_tensor.h: tensors over mapped files and archives.
#pragma once

#include "core/formats/zip_file.h"
#include "core/io/mapped_file.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>

namespace td {

// A tensor of the mapped bytes, row-major, from `offset` bytes on. It keeps the mapping alive.
at::Tensor mapped_tensor(std::shared_ptr<MappedFile> file, std::size_t offset, SizesView sizes,
                         c10::ScalarType dtype);

// The mapping behind a tensor or a view of one; null when there is none.
const MappedFile* mapping_of(const at::Tensor& tensor) noexcept;

// A tensor of what stands `skip` bytes into an entry: without a copy where it is stored and aligned,
// else read or inflated into memory of its own. Throws as zip_file::Reader::read(), and Code::format when
// the entry is too short.
at::Tensor archive_tensor(const zip_file::MappedArchive& archive, const zip_file::Entry& entry,
                          std::size_t skip, SizesView sizes, c10::ScalarType dtype);

}  // namespace td
