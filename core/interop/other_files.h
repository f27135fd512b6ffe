// core/interop/other_files.h: dictionaries in file formats of other programs.
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
  std::optional<std::string>
      separator;                // between the names of a path; none: ".", empty: no nesting
  std::int64_t batch_dims = 0;  // reading: so many leading dimensions; 0: as the file says
  bool write_through = false;   // reading: what is written to the tensors reaches the file
  bool deflate = false;         // writing, in formats that compress
  bool durable = false;         // writing: wait until it is on the disk
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;
  std::string metadata;          // writing safetensors: a JSON object of texts
  std::optional<Layout> layout;  // of raw records
  std::size_t header_bytes = 0;  // bytes before the first raw record
};

// Reads a file of any format that is_file_call() names; its content tells which, then its suffix. Nothing in it is
// trusted. Tensors are views of the mapped file wherever they lie at multiples of their element size. A tensor without a
// name is called "arr_0".
TensorDict load_file(const std::string& path, const FileOptions& options);
TensorDict load_file(const FileBytes& file, const FileOptions& options);

// Writes a file aside, then renames it.
void save_file(const TensorDict& td, const std::string& path, const FileOptions& options);

// A file of one tensor.
at::Tensor load_tensor(const std::string& path, const FileOptions& options);
at::Tensor load_tensor(const FileBytes& file, const FileOptions& options);
void save_tensor(const at::Tensor& tensor, const std::string& path, const FileOptions& options);

// The texts that a file keeps beside its tensors: a JSON object.
std::string file_metadata(const std::string& path, const FileOptions& options);

inline constexpr std::string_view nameless = "arr_0";

}  // namespace td
