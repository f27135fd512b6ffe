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

std::string where_of(const MemmapFolder& dir, const std::string& key) {
  std::string where = "\"" + dir.path_of(format::meta_file) + "\"";
  if (!key.empty()) where += " (" + key + ")";
  return where;
}

[[noreturn]] void fail_no_meta(const std::string& path) {
  fail(Code::io, "no dictionary in \"", path, "\": it has no meta.json");
}

[[noreturn]] void fail_link(const std::string& path) {
  fail(Code::io, "refused: \"", path, "\" is a symbolic link");
}

}  // namespace

Opened MemmapReader::open(FolderPtr dir, const std::string& key, const Counting& above,
                          FolderPtr outer) {
  std::optional<Opened> opened = try_open(dir, key, above, std::move(outer));
  if (!opened) fail_no_meta(dir->path());
  return std::move(*opened);
}

Opened MemmapReader::open_inside(const MemmapFolder& dir, const std::string& name,
                                 const Counting& above) {
  FolderPtr inside = dir.inside(name);
  if (!inside) fail_no_meta(dir.path_of(name));
  return open(std::move(inside), quote(name), above);
}

// The root's row count applies to the dictionaries inside it.
void MemmapReader::count(Opened& opened, const std::string& text) {
  if (opened.text.type != format::NodeType::dense) return;
  if (!opened.counting.decided) {
    opened.counting.decided = true;
    if (options_.counts) {
      const MemmapFolder& dir = opened.place();
      const std::string name(format::count_file);
      const bool there = dir.look(name).found == Found::file;
      const std::string content =
          there ? dir.read(name, format::max_count_file).value_or(std::string()) : "";
      opened.counting.count = format::read_count(content, digest_of(text.data(), text.size()));
    }
  }
  if (!opened.counting.count) return;
  counted_ = true;
  format::count_rows(opened.text, *opened.counting.count);
}

std::optional<Opened> MemmapReader::try_open(FolderPtr dir, const std::string& key,
                                             const Counting& above, FolderPtr outer) {
  const std::optional<std::string> text =
      dir->read(std::string(format::meta_file), format::max_meta_bytes);
  if (!text) return std::nullopt;
  std::string where = where_of(*dir, key);
  // A value is nested one level in its meta.json: allow one more, so that what was loaded can be saved.
  const std::size_t depth = std::min(options_.max_depth + std::size_t{8}, max_json_depth + 1);
  format::Limits limits{depth, entries_left(), true};
  format::NodeText node = format::read_node(*text, where, limits);
  if (node.type == format::NodeType::tensorclass) {
    FolderPtr inner = dir->inside(std::string(format::tensorclass_folder));
    if (!inner || !has_meta(*inner)) {
      limits.tensorclasses = false;
      format::read_node(*text, where, limits);  // throws: the class is unknown
    }
    if (outer) {
      fail(Code::format, "\"", inner->path(), "\": a tensorclass directly contains a tensorclass");
    }
    // A tensorclass is the dictionary inside it.
    Opened opened = open(std::move(inner), key, above, std::move(dir));
    opened.tensorclass = std::move(node.tensorclass);
    opened.empty_fields = std::move(node.empty_fields);
    opened.fields = std::move(node.fields);
    if (opened.fields.size() > entries_left()) {
      fail(Code::format, where, ": more entries than allowed");
    }
    entries_ += opened.fields.size();
    return opened;
  }
  entries_ += node.entries.size();
  Opened opened{std::move(dir), std::move(where), std::move(node), std::move(outer)};
  require_values(opened);
  opened.counting = above;
  count(opened, *text);
  return opened;
}

// Python pickles values that JSON cannot hold. A pickle is a program: it is not run here.
void MemmapReader::require_values(const Opened& opened) {
  const format::NodeType type = opened.text.type;
  const bool one = type == format::NodeType::non_tensor;
  if (!one && type != format::NodeType::non_tensor_stack) return;
  if (one && opened.text.data.empty()) {
    if (opened.dir->look(std::string(format::pickle_file)).found == Found::nothing)
      fail(Code::format, opened.where, ": the field \"data\" is missing");
  } else if (one || opened.text.data != "\"pickle.pkl\"") {
    return;
  }
  fail(Code::unsupported, opened.where, ": the ", one ? "value was" : "values were",
       " pickled by Python and can only be read there");
}

bool MemmapReader::has_meta(const MemmapFolder& dir) {
  return dir.look(std::string(format::meta_file)).found != Found::nothing;
}

std::vector<std::string> MemmapReader::nodes_in(const MemmapFolder& dir) const {
  std::vector<std::string> names = dir.folders(entries_left());
  const auto other = [&](const std::string& name) {
    const FolderPtr inside = dir.inside(name);
    return !inside || !has_meta(*inside);
  };
  names.erase(std::remove_if(names.begin(), names.end(), other), names.end());
  return names;
}

void MemmapReader::count_entry(const Opened& at) {
  if (entries_left() == 0) fail(Code::format, at.where, ": more entries than allowed");
  ++entries_;
}

std::size_t MemmapReader::numbered(const Opened& at) const {
  std::size_t n = 0;
  const std::vector<std::string> names = at.dir->folders(entries_left());
  for (const std::string& name : names) n += format::is_number(name) ? 1 : 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = std::to_string(i);
    if (std::binary_search(names.begin(), names.end(), name)) continue;
    if (at.dir->look(name).found == Found::link) fail_link(at.dir->path_of(name));
    fail(Code::format, at.where, ": element ", name, " of the lazy stack is missing, of ", n,
         " in all");
  }
  return n;
}

// Tries a key's file names: escaped, then bare as in older folders. Folders of nodes have no suffix.
template <class Accept>
bool MemmapReader::locate(const std::string& where, const std::string& key, std::string_view suffix,
                          Accept&& accept) const {
  const auto with_suffix = [&](std::string name) { return name.append(suffix); };
  const bool verbatim = format::safe_verbatim(key, suffix.empty());
  if (options_.verbatim_names) {
    if (!verbatim) fail(Code::format, where, ": the key ", quote(key), " leads out of the folder");
    return accept(with_suffix(key));
  }
  const std::string name = format::escape(key);
  if (accept(with_suffix(name))) return true;
  return verbatim && name != key && accept(with_suffix(key));
}

Opened MemmapReader::open_entry(const Opened& at, const std::string& key) {
  std::optional<Opened> opened;
  const std::string quoted = quote(key);
  locate(at.where, key, {}, [&](const std::string& name) {
    if (const FolderPtr dir = at.dir->inside(name)) {
      opened = try_open(dir, quoted, at.counting, nullptr);
      if (opened) return true;
    }
    const Found found = at.dir->look(name).found;
    if (found == Found::nothing) return false;
    const std::string path = at.dir->path_of(name);
    if (found == Found::link) fail_link(path);
    if (found != Found::folder) fail(Code::format, "\"", path, "\" is not a folder");
    fail(Code::format, "\"", path, "\" has no meta.json");
  });
  if (!opened) fail(Code::format, at.where, ": the folder is missing for the entry ", quoted);
  return std::move(*opened);
}

Opened MemmapReader::open_folder(const Opened& at, const std::string& name) {
  return open_inside(*at.dir, name, at.counting);
}

Opened MemmapReader::open_source(const Opened& at) {
  return open_inside(*at.dir, std::string(format::source_folder), {});
}

Opened MemmapReader::open_nested(const FolderPtr& root, const std::vector<std::string>& path) {
  std::vector<FolderPtr> above;
  FolderPtr dir = root;
  for (const std::string& key : path) {
    above.push_back(std::move(dir));
    dir = find_nested(*above.back(), key);
  }
  return open(std::move(dir), {}, counting_above(above));
}

// Reads the folders from the root down to the last one that counts rows.
Counting MemmapReader::counting_above(const std::vector<FolderPtr>& folders) {
  const std::size_t entries = entries_;
  for (const FolderPtr& folder : folders) {
    if (folder->look(std::string(format::count_file)).found != Found::file) continue;
    const Counting counting = open(folder, {}).counting;
    entries_ = entries;
    if (counting.count) return counting;
  }
  return {};
}

FolderPtr MemmapReader::find_nested(const MemmapFolder& dir, const std::string& key) const {
  const std::string where = where_of(dir, {});
  FolderPtr found;
  const auto find_in = [&](const MemmapFolder& folder) {
    return locate(where, key, {}, [&](const std::string& name) {
      found = folder.inside(name);
      return found && has_meta(*found);
    });
  };
  if (find_in(dir)) return found;
  const FolderPtr inner = dir.inside(std::string(format::tensorclass_folder));
  if (inner && find_in(*inner)) return found;
  const bool leaf = locate(where, key, format::leaf_suffix, [&](const std::string& name) {
    return dir.look(name).found == Found::file;
  });
  if (leaf) fail(Code::wrong_entry, quote(key), " in \"", dir.path(), "\" is a tensor");
  fail(Code::key_not_found, "there is no dictionary ", quote(key), " in \"", dir.path(), "\"");
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

at::Tensor MemmapReader::values(const Opened& at, const std::string& key, SizesView sizes,
                                c10::ScalarType dtype, std::string_view suffix) const {
  at::Tensor tensor;
  const bool found = locate(at.where, key, suffix, [&](const std::string& name) {
    tensor = at.dir->leaf(name, sizes, dtype);
    return tensor.defined();
  });
  if (!found) fail_missing(at, key);
  return tensor;
}

void MemmapReader::require_file(const Opened& at, const std::string& key,
                                std::uint64_t bytes) const {
  const bool found = locate(at.where, key, format::leaf_suffix, [&](const std::string& name) {
    const files::Look look = at.dir->look(name);
    if (look.found == Found::nothing) return false;
    const std::string path = at.dir->path_of(name);
    if (look.found == Found::link) fail_link(path);
    if (look.found != Found::file) fail(Code::io, "refused: \"", path, "\" is not a regular file");
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
