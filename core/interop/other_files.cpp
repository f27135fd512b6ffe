#include "core/interop/other_files.h"

#include "core/formats/format.h"
#include "core/interop/arrow_files.h"
#include "core/interop/hdf5.h"
#include "core/interop/numpy.h"
#include "core/interop/raw_file.h"
#include "core/interop/safetensors.h"
#include "core/interop/torch_file.h"

#include <cstring>

namespace td {

namespace {

struct Suffix {
  std::string_view text;
  FileFormat format;
};
constexpr Suffix suffixes[] = {
    {".safetensors", FileFormat::safetensors},
    {".npy", FileFormat::npy},
    {".npz", FileFormat::npz},
    {".pt", FileFormat::pickled},
    {".pth", FileFormat::pickled},
    {".ckpt", FileFormat::pickled},
    {".h5", FileFormat::hdf5},
    {".hdf5", FileFormat::hdf5},
    {".parquet", FileFormat::parquet},
    {".arrow", FileFormat::arrow},
    {".feather", FileFormat::arrow},
};

FileFormat format_to_write(const std::string& path, const FileOptions& options) {
  FileFormat format = options.format;
  if (format == FileFormat::detect && options.layout) format = FileFormat::raw;
  if (format == FileFormat::detect) format = format_of_suffix(path);
  if (format == FileFormat::detect) {
    fail(Code::invalid_argument, "the name ", quote(path), " does not tell which format to write");
  }
  if (format == FileFormat::pickled) {
    fail(Code::unsupported, "files of torch.save are read only: write safetensors instead");
  }
  if (!options.metadata.empty() && format != FileFormat::safetensors) {
    fail(Code::invalid_argument, "only safetensors keep metadata");
  }
  return format;
}

FileFormat format_to_read(const FileBytes& file, const FileOptions& options) {
  if (options.format != FileFormat::detect) return options.format;
  return options.layout ? FileFormat::raw : detect_format(file);
}

void check_options(const FileOptions& options) {
  if (options.batch_dims < 0) {
    fail(Code::invalid_argument, "a number of batch dimensions of ", options.batch_dims);
  }
}

hdf5::Options hdf5_options(const FileBytes& file, const FileOptions& options) {
  if (file.writes_through()) {
    fail(Code::unsupported, file.where(), " is an HDF5 file: its values are read, not mapped");
  }
  hdf5::Options result;
  result.batch_dims = options.batch_dims;
  result.max_depth = options.max_depth;
  result.max_entries = options.max_entries;
  return result;
}

// By its first bytes.
FileFormat arrow_format(std::string_view text) noexcept {
  const auto begins = [&](arrow::FileForm form) {
    const std::string_view magic = arrow::magic_of(form);
    return text.substr(0, magic.size()) == magic;
  };
  if (begins(arrow::FileForm::parquet)) return FileFormat::parquet;
  return begins(arrow::FileForm::ipc) ? FileFormat::arrow : FileFormat::detect;
}

TensorDict load_arrow(const FileBytes& file, arrow::FileForm form, const FileOptions& options) {
  file.require_copies("a column");
  arrow::ImportOptions given;
  given.separator = options.separator.value_or("");
  given.max_depth = options.max_depth;
  given.max_entries = options.max_entries;
  return arrow::load_file(file, form, given, options.batch_dims);
}

// At the start, or behind something of the user's of 512 bytes or a power of 2 times that.
bool is_hdf5(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); at = at == 0 ? 512 : 2 * at) {
    if (text.substr(at, hdf5::magic.size()) == hdf5::magic) return true;
  }
  return false;
}

[[noreturn]] void fail_no_tensor_file(const std::string& where) {
  fail(Code::wrong_entry, where, " holds a dictionary, not one tensor");
}

TensorDict load_as(FileFormat format, const FileBytes& file, const FileOptions& options) {
  switch (format) {
    case FileFormat::safetensors: return safetensors::load(file, options);
    case FileFormat::npy: return numpy::load(file, options);
    case FileFormat::npz: return numpy::load_npz(file, options);
    case FileFormat::pickled: return pickled::load(file, options);
    case FileFormat::raw: return load_raw(file, options);
    case FileFormat::hdf5: return hdf5::Reader::open(file, hdf5_options(file, options))->read({});
    case FileFormat::parquet: return load_arrow(file, arrow::FileForm::parquet, options);
    case FileFormat::arrow: return load_arrow(file, arrow::FileForm::ipc, options);
    case FileFormat::detect: break;
  }
  fail(Code::invalid_argument, "format ", static_cast<std::int32_t>(format), " is unknown");
}

}  // namespace

FileFormat format_of_suffix(std::string_view path) noexcept {
  for (const Suffix& row : suffixes) {
    if (path.size() > row.text.size() && path.substr(path.size() - row.text.size()) == row.text) {
      return row.format;
    }
  }
  return FileFormat::detect;
}

FileFormat detect_format(const FileBytes& file) {
  const std::string_view text = file.text();
  if (text.substr(0, numpy::magic.size()) == numpy::magic) return FileFormat::npy;
  if (text.substr(0, 2) == "PK") {
    return pickled::looks_like(file) ? FileFormat::pickled : FileFormat::npz;
  }
  std::uint64_t length = 0;
  if (text.size() > sizeof length) {
    std::memcpy(&length, text.data(), sizeof length);
    if (length <= text.size() - sizeof length && text[sizeof length] == '{') {
      return FileFormat::safetensors;
    }
  }
  const std::string& where = file.where();  // in quotes
  const FileFormat format =
      where.size() < 2 ? FileFormat::detect
                       : format_of_suffix(std::string_view(where).substr(1, where.size() - 2));
  // The parser of these is not ours, and trusts more than ours do: a name that promises something else
  // does not lead there.
  if (is_hdf5(text) && format != FileFormat::hdf5) {
    fail(Code::format, where,
         " is an HDF5 file by its content, not by its name: ask for that format");
  }
  const FileFormat table = arrow_format(text);
  if (table != FileFormat::detect && format != FileFormat::detect && format != table) {
    fail(Code::format, where, " is ", table == FileFormat::arrow ? "an Arrow" : "a Parquet",
         " file by its content, not by its name: ask for that format");
  }
  if (table == FileFormat::detect && format == FileFormat::detect) {
    fail(Code::format, where, " is in no known format");
  }
  return table == FileFormat::detect ? format : table;
}

TensorDict load_file(const FileBytes& file, const FileOptions& options) {
  check_options(options);
  return load_as(format_to_read(file, options), file, options);
}

TensorDict load_file(const std::string& path, const FileOptions& options) {
  const FileBytes file = FileBytes::open(path, options.write_through);
  check_options(options);
  const FileFormat format = format_to_read(file, options);
  // Its library opens files itself.
  if (format == FileFormat::hdf5) return hdf5::load(path, hdf5_options(file, options));
  return load_as(format, file, options);
}

void save_file(const TensorDict& td, const std::string& path, const FileOptions& options) {
  const FileFormat format = format_to_write(path, options);
  switch (format) {
    case FileFormat::safetensors: return safetensors::save(td, path, options);
    case FileFormat::npy: return numpy::save(td, path, options);
    case FileFormat::npz: return numpy::save_npz(td, path, options);
    case FileFormat::raw: return save_raw(td, path, options);
    case FileFormat::hdf5: {
      hdf5::SaveOptions given;
      given.deflate = options.deflate ? hdf5::usual_deflate : 0;
      given.durable = options.durable;
      return hdf5::save(td, path, given);
    }
    case FileFormat::parquet:
    case FileFormat::arrow:
      return arrow::save_file(
          td, path, format == FileFormat::parquet ? arrow::FileForm::parquet : arrow::FileForm::ipc,
          {options.separator.value_or(""), options.deflate, options.durable});
    default: break;
  }
  fail(Code::invalid_argument, "format ", static_cast<std::int32_t>(options.format), " is unknown");
}

at::Tensor load_tensor(const FileBytes& file, const FileOptions& options) {
  switch (format_to_read(file, options)) {
    case FileFormat::npy: return numpy::load_array(file, options);
    case FileFormat::pickled: return pickled::load_tensor(file, options);
    default: fail_no_tensor_file(file.where());
  }
}

at::Tensor load_tensor(const std::string& path, const FileOptions& options) {
  return load_tensor(FileBytes::open(path, options.write_through), options);
}

void save_tensor(const at::Tensor& tensor, const std::string& path, const FileOptions& options) {
  const FileFormat format = format_to_write(path, options);
  if (format != FileFormat::npy) {
    fail(Code::invalid_argument, "one tensor is stored as .npy; ", quote(path),
         " takes a dictionary");
  }
  numpy::save_array(tensor, path, options);
}

std::string file_metadata(const std::string& path, const FileOptions& options) {
  const FileBytes file = FileBytes::open(path, false);
  if (format_to_read(file, options) != FileFormat::safetensors) {
    fail(Code::wrong_entry, file.where(), " keeps no metadata: only safetensors do");
  }
  return safetensors::metadata(file, options);
}

}  // namespace td
