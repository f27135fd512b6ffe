#include "core/files/other_files.h"

#include "core/arrays/numpy.h"
#include "core/arrays/raw_file.h"
#include "core/arrays/safetensors.h"
#include "core/arrow/files.h"
#include "core/base/quote.h"
#include "core/formats/json_text.h"
#include "core/hdf5/hdf5.h"
#include "core/torch_files/torch_file.h"

namespace td {

namespace {

// Lets the HDF5 library open the file itself; otherwise it copies the bytes.
std::unique_ptr<hdf5::Reader> open_hdf5(const FileBytes& file, const hdf5::Options& given) {
  return file.path().empty() ? hdf5::Reader::open(file, given)
                             : hdf5::Reader::open(file.path(), given);
}

TensorDict load_hdf5(const FileBytes& file, const FileOptions& options) {
  if (file.writes_through()) {
    fail(Code::unsupported, file.where(), " is an HDF5 file: its values are read, not mapped");
  }
  hdf5::Options given;
  given.batch_dims = options.batch_dims;
  given.max_depth = options.max_depth;
  given.max_entries = options.max_entries;
  return open_hdf5(file, given)->read({});
}

std::string hdf5_metadata(const FileBytes& file, const FileOptions& options) {
  hdf5::Options given;
  given.skip = true;
  given.max_depth = options.max_depth;
  given.max_entries = options.max_entries;
  return json_text(open_hdf5(file, given)->attributes());
}

void save_hdf5(const TensorDict& td, const std::string& path, const FileOptions& options) {
  hdf5::SaveOptions given;
  given.deflate = options.deflate ? hdf5::usual_deflate : 0;
  given.durable = options.durable;
  if (!options.metadata.empty())
    given.attributes = read_json(options.metadata, "the metadata", max_json_depth);
  hdf5::save(td, path, given);
}

// The functions of a format; nullptr if its row in format_rows lacks the ability.
struct Calls {
  FileFormat format;
  TensorDict (*load)(const FileBytes&, const FileOptions&);
  void (*save)(const TensorDict&, const std::string& path, const FileOptions&) = nullptr;
  at::Tensor (*load_tensor)(const FileBytes&, const FileOptions&) = nullptr;
  void (*save_tensor)(const at::Tensor&, const std::string& path, const FileOptions&) = nullptr;
  std::string (*metadata)(const FileBytes&, const FileOptions&) = nullptr;
};
constexpr Calls calls[] = {
    {FileFormat::safetensors, safetensors::load, safetensors::save, nullptr, nullptr,
     safetensors::metadata},
    {FileFormat::npy, numpy::load, numpy::save, numpy::load_array, numpy::save_array},
    {FileFormat::npz, numpy::load_npz, numpy::save_npz},
    {FileFormat::pickled, pickled::load, pickled::save, pickled::load_tensor, pickled::save_tensor},
    {FileFormat::module, pickled::load, nullptr, pickled::load_tensor},
    {FileFormat::raw, load_raw, save_raw},
    {FileFormat::hdf5, load_hdf5, save_hdf5, nullptr, nullptr, hdf5_metadata},
    {FileFormat::parquet, arrow::load_file, arrow::save_file},
    {FileFormat::arrow, arrow::load_file, arrow::save_file},
};

// nullptr for an unknown number, and for a format with C functions of its own.
constexpr const Calls* find_calls(FileFormat format) noexcept {
  for (const Calls& one : calls) {
    if (one.format == format) return &one;
  }
  return nullptr;
}

constexpr bool calls_do_what_rows_say() noexcept {
  for (const FormatRow& row : format_rows) {
    const Calls* const found = find_calls(row.format);
    if (!is_file_call(row.format)) continue;
    if (found == nullptr || (found->load != nullptr) != ((row.can & can_load) != 0) ||
        (found->save != nullptr) != ((row.can & can_save) != 0) ||
        (found->load_tensor != nullptr) != ((row.can & one_tensor) != 0) ||
        (found->save_tensor != nullptr) != ((~row.can & (one_tensor | can_save)) == 0)) {
      return false;
    }
  }
  return true;
}
static_assert(calls_do_what_rows_say());

const Calls& need_calls(FileFormat format, const std::string& where) {
  if (const Calls* const found = find_calls(format)) return *found;
  const FormatRow* const row = find_format(format);
  if (row == nullptr)
    fail(Code::invalid_argument, "format ", static_cast<std::int32_t>(format), " is unknown");
  fail(Code::unsupported, where, " is ", row->title, ": it has functions of its own");
}

// HDF5's parser trusts files more than ours do: do not use it for a file whose suffix says another format.
FileFormat detect_format(const FileBytes& file) {
  const std::string& where = file.where();  // quoted
  const FileFormat named = format_of_name(std::string_view(where).substr(0, where.size() - 1));
  const FileFormat found = format_of_content(file.text());
  if (found == FileFormat::detect) {
    if (find_calls(named) != nullptr) return named;
    fail(Code::format, where, " is in no known format");
  }
  const FormatRow& row = *find_format(found);
  const bool agrees = named == found || row.rule == NameRule::anything ||
                      (row.rule == NameRule::no_other && named == FileFormat::detect);
  if (!agrees) {
    fail(Code::format, where, " is ", row.title,
         " by its content, not by its name: ask for that format");
  }
  return found;
}

// The options with the detected format, and its functions.
struct Known {
  FileOptions options;
  const Calls& calls;
};

Known with_format(FileOptions options, FileFormat format, const std::string& where) {
  options.format = format;
  return {std::move(options), need_calls(format, where)};
}

Known to_read(const FileBytes& file, const FileOptions& options) {
  if (options.batch_dims < 0) {
    fail(Code::invalid_argument, "a number of batch dimensions of ", options.batch_dims);
  }
  FileFormat format = options.format;
  if (format == FileFormat::detect) format = options.layout ? FileFormat::raw : detect_format(file);
  return with_format(options, format, file.where());
}

Known to_write(const std::string& path, const FileOptions& options, unsigned can) {
  FileFormat format = options.format;
  if (format == FileFormat::detect)
    format = options.layout ? FileFormat::raw : format_of_name(path);
  if (format == FileFormat::detect) {
    fail(Code::invalid_argument, "the name ", quote(path),
         " does not tell which format to write: it ends with none of ", suffixes_of(can));
  }
  Known result = with_format(options, format, quote(path));
  if (result.calls.save == nullptr) {
    fail(Code::unsupported, quote(path), " would be ", find_format(format)->title,
         ", which are read only; written are ", suffixes_of(can));
  }
  if (!options.metadata.empty() && result.calls.metadata == nullptr) {
    fail(Code::invalid_argument, "only safetensors and HDF5 files keep metadata");
  }
  return result;
}

}  // namespace

TensorDict load_file(const FileBytes& file, const FileOptions& options) {
  const Known known = to_read(file, options);
  return known.calls.load(file, known.options);
}

TensorDict load_file(const std::string& path, const FileOptions& options) {
  return load_file(FileBytes::open(path, options.write_through), options);
}

void save_file(const TensorDict& td, const std::string& path, const FileOptions& options) {
  const Known known = to_write(path, options, can_save);
  known.calls.save(td, path, known.options);
}

at::Tensor load_tensor(const FileBytes& file, const FileOptions& options) {
  const Known known = to_read(file, options);
  if (known.calls.load_tensor == nullptr)
    fail(Code::wrong_entry, file.where(), " holds a dictionary, not one tensor");
  return known.calls.load_tensor(file, known.options);
}

at::Tensor load_tensor(const std::string& path, const FileOptions& options) {
  return load_tensor(FileBytes::open(path, options.write_through), options);
}

void save_tensor(const at::Tensor& tensor, const std::string& path, const FileOptions& options) {
  const Known known = to_write(path, options, can_save | one_tensor);
  if (known.calls.save_tensor == nullptr) {
    fail(Code::invalid_argument, quote(path), " takes a dictionary; one tensor is stored as ",
         suffixes_of(can_save | one_tensor));
  }
  known.calls.save_tensor(tensor, path, known.options);
}

std::string file_metadata(const std::string& path, const FileOptions& options) {
  const FileBytes file = FileBytes::open(path, false);
  const Known known = to_read(file, options);
  if (known.calls.metadata == nullptr)
    fail(Code::wrong_entry, file.where(), " keeps no metadata: only safetensors and HDF5 files do");
  return known.calls.metadata(file, known.options);
}

}  // namespace td
