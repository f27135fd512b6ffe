// core/interop/arrow_files.h: files of Parquet and Arrow, through a separate module. Without the module each
// function throws Code::unsupported.
#pragma once

#include "core/consolidated/file_bytes.h"
#include "core/interop/arrow.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace td::arrow {

enum class FileForm : std::int32_t { parquet = 0, ipc = 1 };  // as the module numbers them

constexpr std::string_view magic_of(FileForm form) noexcept {
  return form == FileForm::parquet ? "PAR1" : "ARROW1";
}

struct FileSaveOptions {
  std::string separator = {};  // as ExportOptions has it
  bool compress = false;       // Parquet always is
  bool durable = false;        // waits until it is on the disk
};

// All rows, as td::arrow::Reader makes a dictionary of them. `batch_dims`: so many leading dimensions, not one alone.
TensorDict load_file(const FileBytes& file, FileForm form, const ImportOptions& options,
                     std::int64_t batch_dims);

// Writes a file beside its place and renames it.
void save_file(const TensorDict& td, const std::string& path, FileForm form,
               const FileSaveOptions& options);

}  // namespace td::arrow
