// core/tensor/mapped_tensor.h: tensors over mapped files and archives.
#pragma once

#include "core/formats/zip_file.h"
#include "core/io/mapped_file.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>

namespace td {

// A contiguous tensor over mapped bytes from `offset` on. It keeps the mapping alive.
at::Tensor mapped_tensor(std::shared_ptr<MappedFile> file, std::size_t offset, SizesView sizes,
                         c10::ScalarType dtype);

// The mapping of a tensor or a view; nullptr if it is not mapped.
const MappedFile* mapping_of(const at::Tensor& tensor) noexcept;

// A tensor of the bytes after the first `skip` of an entry: mapped if they are stored and aligned, else
// copied or inflated. Throws as zip_file::Reader::read(), and Code::format if the entry is too short.
at::Tensor archive_tensor(const zip_file::MappedArchive& archive, const zip_file::Entry& entry,
                          std::size_t skip, SizesView sizes, c10::ScalarType dtype);

}  // namespace td
