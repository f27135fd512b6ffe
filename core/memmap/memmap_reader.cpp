#include "core/memmap/memmap_reader.h"

#include "core/io/folder.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace td {

namespace {

using files::Found;

std::string where_of(const std::string& dir, const std::string& key) {
  std::string where = "\"" + files::join(dir, format::meta_file) + "\"";
  if (!key.empty()) where += " (" + key + ")";
  return where;
}

// The folder's name in messages: that of the tensorclass, not of the dictionary inside it.
std::string called(const std::string& dir) {
  const std::size_t inner = format::tensorclass_folder.size() + 1;
  if (!files::ends_with(dir, "/" + std::string(format::tensorclass_folder))) return dir;
  return dir.substr(0, dir.size() - inner);
}

}  // namespace

Opened MemmapReader::open(std::string dir, const std::string& key, const Counting& above) {
  const std::string path = dir;
  std::optional<Opened> opened = try_open(std::move(dir), key, above);
  if (!opened) fail(Code::io, "no dictionary in \"", path, "\": it has no meta.json");
  return std::move(*opened);
}

// The root's row count applies to the dictionaries inside it.
void MemmapReader::count(Opened& opened, const std::string& text, const std::string& dir) {
  if (opened.text.type != format::NodeType::dense) return;
  if (!opened.counting.decided) {
    opened.counting.decided = true;
    if (options_.counts) {
      const std::string path = files::join(dir, format::count_file);
      const bool there = source_.look(path).found == Found::file;
      const std::string content =
          there ? source_.read(path, format::max_count_file).value_or(std::string()) : "";
      opened.counting.count = format::read_count(content, digest_of(text.data(), text.size()));
    }
  }
  if (!opened.counting.count) return;
  counted_ = true;
  format::count_rows(opened.text, *opened.counting.count);
}

std::optional<Opened> MemmapReader::try_open(std::string dir, const std::string& key,
                                             const Counting& above) {
  const std::optional<std::string> text =
      source_.read(files::join(dir, format::meta_file), format::max_meta_bytes);
  if (!text) return std::nullopt;
  std::string where = where_of(dir, key);
  // A value is nested one level in its meta.json: allow one more, so that what was loaded can be saved.
  const std::size_t depth = std::min(options_.max_depth + std::size_t{8}, max_json_depth + 1);
  format::Limits limits{depth, entries_left(), true};
  format::NodeText node = format::read_node(*text, where, limits);
  if (node.type == format::NodeType::tensorclass) {
    const std::string inner = files::join(dir, format::tensorclass_folder);
    if (!has_meta(inner)) {
      limits.tensorclasses = false;
      format::read_node(*text, where, limits);  // throws: the class is unknown
    }
    // A tensorclass is the dictionary inside it.
    Opened opened = open_record(inner, key, above);
    opened.tensorclass = std::move(node.tensorclass);
    opened.empty_fields = std::move(node.empty_fields);
    opened.fields = std::move(node.fields);
    if (opened.fields.size() > entries_left()) {
      fail(Code::format, where, ": more entries than allowed");
    }
    entries_ += opened.fields.size();
    opened.outer = std::move(dir);
    return opened;
  }
  entries_ += node.entries.size();
  Opened opened{std::move(dir), std::move(where), std::move(node)};
  require_values(opened);
  opened.counting = above;
  count(opened, *text, called(opened.dir));
  return opened;
}

Opened MemmapReader::open_record(const std::string& dir, const std::string& key,
                                 const Counting& above) {
  const std::string outer = called(dir);
  if (called(outer) != outer) {
    fail(Code::format, "\"", dir, "\": a tensorclass directly contains a tensorclass");
  }
  return open(dir, key, above);
}

// Python pickles values that JSON cannot hold. A pickle is a program: it is not run here.
void MemmapReader::require_values(const Opened& opened) const {
  const format::NodeType type = opened.text.type;
  const bool one = type == format::NodeType::non_tensor;
  if (!one && type != format::NodeType::non_tensor_stack) return;
  if (one && opened.text.data.empty()) {
    const std::string pickle = files::join(opened.dir, format::pickle_file);
    if (source_.look(pickle).found == Found::nothing)
      fail(Code::format, opened.where, ": the field \"data\" is missing");
  } else if (one || opened.text.data != "\"pickle.pkl\"") {
    return;
  }
  fail(Code::unsupported, opened.where, ": the ", one ? "value was" : "values were",
       " pickled by Python and can only be read there");
}

bool MemmapReader::has_meta(const std::string& dir) const {
  return source_.look(files::join(dir, format::meta_file)).found != Found::nothing;
}

std::vector<std::string> MemmapReader::folders_in(const std::string& dir) const {
  return source_.folders_in(dir, entries_left());
}

void MemmapReader::count_entry(const Opened& at) {
  if (entries_left() == 0) fail(Code::format, at.where, ": more entries than allowed");
  ++entries_;
}

std::size_t MemmapReader::numbered(const Opened& at) const {
  std::size_t n = 0;
  std::vector<std::string> names = folders_in(at.dir);
  for (const std::string& name : names) n += format::is_number(name) ? 1 : 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = std::to_string(i);
    if (std::binary_search(names.begin(), names.end(), name)) continue;
    const std::string dir = files::join(at.dir, name);
    if (source_.look(dir).found == Found::link)
      fail(Code::io, "refused: \"", dir, "\" is a symbolic link");
    fail(Code::format, at.where, ": element ", name, " of the lazy stack is missing, of ", n,
         " in all");
  }
  return n;
}

// Tries a key's file names: escaped, then bare as in older folders. Folders of nodes have no suffix.
template <class Accept>
bool MemmapReader::locate(const std::string& dir, const std::string& where, const std::string& key,
                          std::string_view suffix, Accept&& accept) const {
  const auto with_suffix = [&](std::string name) { return name.append(suffix); };
  const bool verbatim = format::safe_verbatim(key, suffix.empty());
  if (options_.verbatim_names) {
    if (!verbatim) fail(Code::format, where, ": the key ", quote(key), " leads out of the folder");
    return accept(files::join(dir, with_suffix(key)));
  }
  const std::string name = format::escape(key);
  if (accept(files::join(dir, with_suffix(name)))) return true;
  return verbatim && name != key && accept(files::join(dir, with_suffix(key)));
}

Opened MemmapReader::open_entry(const Opened& at, const std::string& key) {
  std::optional<Opened> opened;
  const std::string name = quote(key);
  locate(at.dir, at.where, key, {}, [&](const std::string& dir) {
    opened = try_open(dir, name, at.counting);
    if (opened) return true;
    const Found found = source_.look(dir).found;
    if (found == Found::nothing) return false;
    if (found == Found::link) fail(Code::io, "refused: \"", dir, "\" is a symbolic link");
    if (found != Found::folder) fail(Code::format, "\"", dir, "\" is not a folder");
    fail(Code::format, "\"", dir, "\" has no meta.json");
  });
  if (!opened) fail(Code::format, at.where, ": the folder is missing for the entry ", name);
  return std::move(*opened);
}

Opened MemmapReader::open_element(const Opened& at, std::size_t number) {
  const std::string name = std::to_string(number);
  return open(files::join(at.dir, name), quote(name), at.counting);
}

Opened MemmapReader::open_nested(const std::vector<std::string>& path) {
  std::string dir = descend(path);
  const Counting above = path.empty() ? Counting() : counting_above(dir);
  return open(std::move(dir), {}, above);
}

// Reads the folders from the root down to `dir`.
Counting MemmapReader::counting_above(const std::string& dir) {
  const std::size_t entries = entries_;
  for (std::size_t end = source_.root().size(); end < dir.size(); end = dir.find('/', end + 1)) {
    const std::string above = dir.substr(0, end);
    if (source_.look(files::join(above, format::count_file)).found != Found::file) continue;
    const Counting counting = open(above, {}).counting;
    entries_ = entries;
    if (counting.count) return counting;
  }
  return {};
}

std::string MemmapReader::descend(const std::vector<std::string>& path) const {
  std::string dir = source_.root();
  for (const std::string& key : path) {
    const std::string where = where_of(dir, {});
    std::string found;
    const auto accept = [&](const std::string& candidate) {
      if (!has_meta(candidate)) return false;
      found = candidate;
      return true;
    };
    const std::string tensorclass = files::join(dir, format::tensorclass_folder);
    if (!locate(dir, where, key, {}, accept) && !locate(tensorclass, where, key, {}, accept)) {
      const bool leaf =
          locate(dir, where, key, format::leaf_suffix, [&](const std::string& candidate) {
            return source_.look(candidate).found == Found::file;
          });
      if (leaf) fail(Code::wrong_entry, quote(key), " in \"", dir, "\" is a tensor");
      fail(Code::key_not_found, "there is no dictionary ", quote(key), " in \"", dir, "\"");
    }
    dir = std::move(found);
  }
  return dir;
}

at::Tensor MemmapReader::leaf(const Opened& at, const format::Entry& entry, std::int64_t rows,
                              const std::optional<c10::Device>& device) const {
  const auto where = [&] { return at.where + ": " + quote(entry.key); };
  if (entry.dtype.empty() || !entry.has_shape)
    fail(Code::format, where(), " has no dtype or no shape");
  const c10::ScalarType dtype = parse_dtype(entry.dtype, where());
  Sizes sizes(entry.shape);
  if (!begins_with(sizes, at.text.batch)) {
    fail(Code::format, where(), " has shape ", show_sizes(sizes),
         ", which does not begin with the batch size ", show_sizes(at.text.batch));
  }
  if (!at.text.batch.empty()) sizes[0] = rows;
  const std::optional<std::int64_t> bytes = checked_bytes(sizes, c10::elementSize(dtype));
  if (!bytes) {
    fail(Code::format, where(), " has shape ", show_sizes(entry.shape), ", which is too large");
  }
  if (device && device->type() == c10::DeviceType::Meta) {
    if (*bytes != 0) require_file(at, entry.key, static_cast<std::uint64_t>(*bytes));
    return at::empty(sizes, at::TensorOptions(dtype).device(*device));
  }
  const at::Tensor tensor =
      *bytes == 0 ? fast::make_dense(sizes, dtype) : values(at, entry.key, sizes, dtype);
  return device ? move_to(tensor, *device) : tensor;
}

NestedTensorPtr MemmapReader::nested_tensor(const Opened& at, const format::Entry& entry,
                                            std::int64_t rows,
                                            const std::optional<c10::Device>& device) const {
  const std::string where = at.where + ": " + quote(entry.key);
  if (entry.dtype.empty() || !entry.has_shape)
    fail(Code::format, where, " has no dtype or no shape");
  const c10::ScalarType dtype = parse_dtype(entry.dtype, where);
  const std::optional<std::int64_t> bytes = checked_bytes(entry.shape, sizeof(std::int64_t));
  if (!bytes || entry.shape.size() != 2 || (entry.shape[1] == 0 && entry.shape[0] != 0)) {
    fail(Code::format, where, " is a nested tensor, with a table of sizes of shape ",
         show_sizes(entry.shape));
  }
  try {
    // Copy: another process may write to the file.
    const at::Tensor table =
        *bytes == 0 ? at::empty(entry.shape, at::kLong)
                    : values(at, entry.key, entry.shape, at::kLong, format::table_suffix).clone();
    const Sizes count{count_nested_tensor(table, c10::elementSize(dtype))};
    const auto needed = static_cast<std::uint64_t>(count[0]) * c10::elementSize(dtype);
    at::Tensor flat;
    if (device && device->type() == c10::DeviceType::Meta) {
      if (needed != 0) require_file(at, entry.key, needed);
      flat = at::empty(count, at::TensorOptions(dtype).device(*device));
    } else {
      flat = needed == 0 ? fast::make_dense(count, dtype) : values(at, entry.key, count, dtype);
      if (device) flat = move_to(flat, *device);
    }
    NestedTensorPtr node = for_batch(*make_nested_tensor(flat, table), at.text.batch, "it");
    if (!at.text.batch.empty() && rows < at.text.batch[0]) {
      std::vector<std::int64_t> first(static_cast<std::size_t>(rows));
      std::iota(first.begin(), first.end(), 0);
      Sizes batch(at.text.batch);
      batch[0] = rows;
      node = for_batch(*parts_at(*node, first), batch, "it");
    }
    node->set_device(device);
    return node;
  } catch (const Error& error) {
    if (error.code() != Code::shape) throw;
    fail(Code::format, where, ": ", error.what());
  }
}

Opened MemmapReader::open_source(const Opened& at) {
  return open(files::join(at.dir, format::source_folder), quote(format::source_folder));
}

at::Tensor MemmapReader::values(const Opened& at, const std::string& key, SizesView sizes,
                                c10::ScalarType dtype, std::string_view suffix) const {
  at::Tensor tensor;
  const bool found = locate(at.dir, at.where, key, suffix, [&](const std::string& path) {
    tensor = source_.leaf(path, sizes, dtype);
    return tensor.defined();
  });
  if (!found) fail_missing(at, key);
  return tensor;
}

void MemmapReader::require_file(const Opened& at, const std::string& key,
                                std::uint64_t bytes) const {
  const bool found =
      locate(at.dir, at.where, key, format::leaf_suffix, [&](const std::string& path) {
        const files::Look look = source_.look(path);
        if (look.found == Found::nothing) return false;
        if (look.found == Found::link) fail(Code::io, "refused: \"", path, "\" is a symbolic link");
        if (look.found != Found::file)
          fail(Code::io, "refused: \"", path, "\" is not a regular file");
        if (look.bytes >= bytes) return true;
        fail(Code::format, "\"", path, "\" is too short: ", bytes, " bytes expected, ", look.bytes,
             " found");
      });
  if (!found) fail_missing(at, key);
}

void MemmapReader::fail_missing(const Opened& at, const std::string& key) const {
  fail(Code::format, at.where, ": the file of values is missing for ", quote(key));
}

}  // namespace td
