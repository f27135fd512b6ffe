// core/formats/file_formats.h: the only table of formats of files and folders. Messages, tdtool with its
// manual and completion, and the guide's table are made from it. docs/design/core.md describes what a new
// format needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace td {

// Numbers below 64 are those of td_file_format in the C ABI, for formats of the td_file_ functions; new ones
// continue there. Formats from 64 on have C functions of their own.
enum class FileFormat : std::int32_t {
  detect = 0,
  safetensors = 1,
  npy = 2,
  npz = 3,
  pickled = 4,  // torch.save
  raw = 5,      // records of a given layout
  hdf5 = 6,
  parquet = 7,
  arrow = 8,  // record batches of Arrow, also called Feather
  folder = 64,
  archive,
  consolidated,
  module,
  store,
  csv,
  json,
};

constexpr bool is_file_call(FileFormat format) noexcept {
  return format > FileFormat::detect && format < FileFormat::folder;
}

// Bits of FormatRow::can.
enum FormatAbility : std::uint8_t {
  can_load = 1,
  can_save = 2,
  one_tensor = 4,  // a file may hold a tensor without a name
  has_batch = 8,   // stores the batch size
  compresses = 16,
};

// What the file's name must say before its content decides the format.
enum class NameRule : std::uint8_t {
  anything,
  no_other,    // anything but the suffix of another format
  the_format,  // this format
};

// Detect contents without fixed first bytes.
bool is_zip(std::string_view file) noexcept;
bool is_safetensors(std::string_view file) noexcept;
bool is_hdf5(std::string_view file) noexcept;
bool is_consolidated(std::string_view file) noexcept;

struct FormatRow {
  FileFormat format;
  std::string_view name;                        // "npz": as users type it
  std::string_view title;                       // "a NumPy archive"
  std::string_view suffixes;                    // ".pt .pth"
  unsigned can;                                 // bits of FormatAbility
  std::string_view about;                       // what it stores
  std::string_view loses;                       // what a dictionary loses in it
  std::string_view magic = {};                  // the first bytes of a file
  bool (*is)(std::string_view file) = nullptr;  // detects the format, instead of `magic`
  std::string_view member = {};  // an entry of such a zip archive; "*/": in a top-level folder
  NameRule rule = NameRule::anything;
  std::string_view needs = {};  // a library that a build may lack
};

// The first row that recognises a file decides.
// clang-format off
inline constexpr FormatRow format_rows[] = {
    {FileFormat::folder, "folder", "a folder", {}, can_load | can_save | has_batch,
     "tensors as mapped files, as Python's tensordict saves them", "nothing"},
    {FileFormat::archive, "tdz", "an archive", ".tdz", can_load | can_save | has_batch | compresses,
     "such a folder in a zip archive", "nothing", {}, is_zip, "meta.json"},
    {FileFormat::consolidated, "consolidated", "a consolidated file", ".td", can_load | can_save | has_batch,
     "one buffer and its description; mapped", "nothing", {}, is_consolidated},
    {FileFormat::safetensors, "safetensors", "a safetensors file", ".safetensors", can_load | can_save,
     "weights and data sets between languages; mapped", "nothing", {}, is_safetensors},
    {FileFormat::module, "torchscript", "a TorchScript archive", {}, can_load,
     "a module: tdtool shows and runs it; elsewhere its tensors are data", {}, {}, is_zip, "*/constants.pkl"},
    {FileFormat::pickled, "pt", "pickled tensors", ".pt .pth .ckpt", can_load | can_save | one_tensor | has_batch,
     "what torch.save writes: checkpoints, and dictionaries of Python's tensordict; mapped", "devices", {}, is_zip, "*/data.pkl"},
    {FileFormat::npz, "npz", "a NumPy archive", ".npz", can_load | can_save | compresses,
     "NumPy arrays in a zip archive; mapped unless compressed",
     "batch sizes and names of dimensions; non-tensor data is refused", {}, is_zip},
    {FileFormat::npy, "npy", "a NumPy array", ".npy", can_load | can_save | one_tensor,
     "one NumPy array, or records with a field for each tensor; mapped",
     "names of dimensions; non-tensor data is refused", "\x93NUMPY"},
    {FileFormat::hdf5, "h5", "an HDF5 file", ".h5 .hdf5", can_load | can_save | compresses,
     "data sets of robotics, and Python's to_h5; rows can be read alone",
     "names of dimensions; the batch size becomes the sizes that all tensors share", {}, is_hdf5, {},
     NameRule::the_format, "HDF5"},
    {FileFormat::parquet, "parquet", "a Parquet file", ".parquet", can_load | can_save | has_batch,
     "tables of data lakes; nested dictionaries are structs; always compressed",
     "names of dimensions, and batch dimensions beyond the rows", "PAR1", nullptr, {}, NameRule::no_other, "Arrow"},
    {FileFormat::arrow, "arrow", "an Arrow file", ".arrow .feather", can_load | can_save | has_batch | compresses,
     "the same as record batches, for pyarrow, polars and DuckDB; mapped unless compressed",
     "names of dimensions, and batch dimensions beyond the rows", "ARROW1", nullptr, {}, NameRule::no_other, "Arrow"},
    {FileFormat::raw, "raw", "raw records", {}, can_load | can_save | has_batch,
     "structs one after the other, of a layout that the caller describes; mapped",
     "names of dimensions, and entries that the layout lacks"},
    {FileFormat::store, "redis", "a store", {}, can_load | can_save | has_batch,
     "a dictionary in a Redis server: redis://HOST:PORT/PREFIX/ID, rediss:// over TLS, or "
     "redis+unix://SOCKET/PREFIX/ID; the password is that of REDISCLI_AUTH",
     "names of dimensions, and dictionaries without entries"},
    {FileFormat::csv, "csv", "a CSV table", ".csv", can_load | can_save | has_batch,
     "a table with names in the first line", "dtypes, which become int64, float64 or bool"},
    {FileFormat::json, "json", "a JSON table", ".json", can_load | can_save | has_batch,
     "a list of objects, one for each row", "dtypes, which become int64, float64 or bool"},
};
// clang-format on

// nullptr for an unknown number or name.
constexpr const FormatRow* find_format(FileFormat format) noexcept {
  for (const FormatRow& row : format_rows) {
    if (row.format == format) return &row;
  }
  return nullptr;
}
constexpr const FormatRow* find_format(std::string_view name) noexcept {
  for (const FormatRow& row : format_rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// Calls `use` with each suffix of a row.
template <class Use>
constexpr void each_suffix(const FormatRow& row, Use use) {
  std::string_view left = row.suffixes;
  while (!left.empty()) {
    const std::size_t length = left.find(' ');
    use(left.substr(0, length));
    left.remove_prefix(length == std::string_view::npos ? left.size() : length + 1);
  }
}

// The format of a file by content or by name; FileFormat::detect if that does not decide.
FileFormat format_of_content(std::string_view file);
FileFormat format_of_name(std::string_view path) noexcept;

// ".npz, .npy": the suffixes of the td_file_ formats with all of these abilities.
std::string suffixes_of(unsigned can);

}  // namespace td
