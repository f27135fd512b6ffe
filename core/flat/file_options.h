// core/flat/file_options.h: options for reading and writing files of other programs.
#pragma once

#include "core/consolidated/file_bytes.h"
#include "core/formats/file_formats.h"
#include "core/inspect/layout.h"
#include "core/tree/tensordict.h"

#include <cstdint>
#include <optional>
#include <string>

namespace td {

struct FileOptions {
  FileFormat format = FileFormat::detect;
  std::optional<std::string> separator;  // joins names of a path; unset: "."; empty: no nesting
  std::int64_t batch_dims = 0;           // reading: number of batch dimensions; 0: from the file
  bool write_through = false;            // reading: writes to the tensors reach the file
  bool deflate = false;                  // writing, in formats that compress
  bool durable = false;                  // writing: waits until it is on disk
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;
  std::string metadata;  // writing safetensors or HDF5: a JSON object of texts, or of attributes
  std::optional<Layout> layout;  // of raw records
  std::size_t header_bytes = 0;  // bytes before the first raw record
};

// The key of a tensor that has no name in its file.
inline constexpr std::string_view nameless = "arr_0";

}  // namespace td
