// core/interop/other_files.h: dictionaries in file formats of other programs.
#pragma once

#include "core/consolidated/file_bytes.h"
#include "core/inspect/layout.h"
#include "core/tree/tensordict.h"

#include <cstdint>
#include <optional>
#include <string>

namespace td {

enum class FileFormat : std::int32_t {
  detect = 0,
  safetensors = 1,
  npy = 2,
  npz = 3,
  pickled = 4,  // what torch.save writes: read only
  raw = 5,      // records of a described layout
  hdf5 = 6,
  parquet = 7,
  arrow = 8,  // record batches of Arrow, also called Feather
};

struct FileOptions {
  FileFormat format = FileFormat::detect;
  std::optional<std::string>
      separator;                // between the names of a path; none: ".", empty: no nesting
  std::int64_t batch_dims = 0;  // reading: so many leading dimensions; 0: as the file says
  bool write_through = false;   // reading: what is written to the tensors reaches the file
  bool deflate = false;         // writing .npz, HDF5 or Arrow: compressed
  bool durable = false;         // writing: wait until it is on the disk
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;
  std::string metadata;          // writing safetensors: a JSON object of texts
  std::optional<Layout> layout;  // of raw records
  std::size_t header_bytes = 0;  // bytes before the first raw record
};

// Reads a file of any of the formats; what it is, is told by its content, then by its suffix. Nothing
// in it is trusted. Tensors are views of the mapped file wherever they lie at multiples of their
// element size. A tensor without a name is called "arr_0".
TensorDict load_file(const std::string& path, const FileOptions& options);
TensorDict load_file(const FileBytes& file, const FileOptions& options);

// Writes a file aside, then renames it.
void save_file(const TensorDict& td, const std::string& path, const FileOptions& options);

// A file of one tensor: .npy, read and written; .pt, read.
at::Tensor load_tensor(const std::string& path, const FileOptions& options);
at::Tensor load_tensor(const FileBytes& file, const FileOptions& options);
void save_tensor(const at::Tensor& tensor, const std::string& path, const FileOptions& options);

// The texts that a safetensors file keeps beside its tensors: a JSON object.
std::string file_metadata(const std::string& path, const FileOptions& options);

inline constexpr std::string_view nameless = "arr_0";

// The content decides, else the suffix. Throws Code::format when neither tells.
FileFormat detect_format(const FileBytes& file);
FileFormat format_of_suffix(std::string_view path) noexcept;  // detect when it is none of them

}  // namespace td
