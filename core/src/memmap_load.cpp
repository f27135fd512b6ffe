// Opening a folder. What stands in it may come from anybody: names, sizes, nesting and links are
// checked before they are used.
#include "td/assign.h"
#include "td/data_values.h"
#include "td/descent.h"
#include "td/device.h"
#include "td/fast_path.h"
#include "td/file_io.h"
#include "td/format.h"
#include "td/mapped_file.h"
#include "td/memmap.h"
#include "td/record.h"
#include "td/walk.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

using files::Found;

constexpr std::size_t max_meta_bytes = std::size_t{1} << 28;

class Loader {
 public:
  explicit Loader(const LoadOptions& options) : options_(options) {
    if (options.device) device_ = resolve_device(*options.device);
  }

  NodePtr run(const std::string& dir) {
    const std::string root = files::absolute(dir);
    check_root(root);
    Opened opened = open(root, {});
    if (opened.text.type == format::NodeType::data ||
        opened.text.type == format::NodeType::data_stack) {
      fail(Code::unsupported, "\"", root, "\" holds a value, not a dictionary");
    }
    NodePtr result = enter(std::move(opened), nullptr, 0);
    while (!pending_.empty()) {
      const Pending at = std::move(pending_.back());
      pending_.pop_back();
      fill(at);
    }
    return result;
  }

 private:
  // A node whose meta.json has been read.
  struct Opened {
    std::string dir;
    std::string where;  // for messages: the file, and the entry it stands for
    format::NodeText text;
    std::string record = {};  // the name of its type, of a dictionary that is one
    std::vector<std::string> empty_fields = {};
    std::string outer = {};  // the folder around that of a record
  };
  // A dictionary that has its place in the result and no entries yet.
  struct Pending {
    Opened opened;
    DenseNode* node;
    std::size_t depth;
  };

  static void check_root(const std::string& root) {
    // A path without a last name: the caller's own links are followed.
    const Found found = files::look(files::join(root, ".")).found;
    if (found == Found::nothing) fail(Code::io, "no such folder: \"", root, "\"");
    const std::string meta = files::join(root, format::meta_file);
    if (files::look(meta).found == Found::nothing) {
      fail(Code::io, "no dictionary in \"", root, "\": it has no meta.json");
    }
  }

  // `key` is empty for the root.
  Opened open(std::string dir, const std::string& key) {
    const std::string meta = files::join(dir, format::meta_file);
    std::string where = "\"" + meta + "\"";
    if (!key.empty()) where += " (" + key + ")";
    const std::string text = files::read(meta, max_meta_bytes);
    // A value stands one level deep in its meta.json; what is accepted can be saved again.
    const std::size_t depth =
        std::min(options_.max_depth + std::size_t{8}, format::max_json_depth + 1);
    const std::string inner = files::join(dir, std::string(format::record_folder));
    const bool record = files::look(files::join(inner, format::meta_file)).found == Found::file;
    format::NodeText node = format::read_node(text, where, {depth, entries_left(), record});
    // A record is the dictionary inside it.
    if (node.type == format::NodeType::record) {
      Opened opened = open_record(inner, key);
      opened.record = std::move(node.record);
      opened.empty_fields = std::move(node.empty_fields);
      opened.outer = std::move(dir);
      return opened;
    }
    entries_ += node.entries.size();
    return {std::move(dir), std::move(where), std::move(node)};
  }

  Opened open_record(const std::string& dir, const std::string& key) {
    if (files::look(dir).found != Found::folder) {
      fail(Code::io, "refused: \"", dir, "\" is not a folder");
    }
    const std::string outer = dir.substr(0, dir.size() - format::record_folder.size() - 1);
    if (outer.size() >= format::record_folder.size() &&
        outer.compare(outer.size() - format::record_folder.size(), std::string::npos,
                      format::record_folder) == 0) {
      fail(Code::format, "\"", dir, "\": a record stands directly inside a record");
    }
    return open(dir, key);
  }

  std::size_t entries_left() const noexcept { return options_.max_entries - entries_; }

  // What the caller asks for, or the dictionary above has, or the file says.
  std::optional<c10::Device> device_of(const Opened& opened, const Node* above) const {
    if (device_) return device_;
    if (above != nullptr && above->device()) return above->device();
    if (!opened.text.device) return std::nullopt;
    try {
      return parse_device(*opened.text.device);
    } catch (const Error& error) {
      fail(error.code(), opened.where, ": ", error.what());
    }
  }

  // Makes the node of a folder and puts its entries on the list of what is still to be read.
  NodePtr enter(Opened opened, const Node* above, std::size_t depth) {
    const SizesView parent_batch = above == nullptr ? SizesView() : above->batch();
    const std::optional<c10::Device> device = above == nullptr ? device_ : above->device();
    NodePtr node;
    switch (opened.text.type) {
      case format::NodeType::data:
        node = c10::make_intrusive<DataNode>(std::move(opened.text.data), parent_batch, device);
        break;
      case format::NodeType::data_stack: node = data_stack(opened, parent_batch, device); break;
      case format::NodeType::lazy: node = lazy(opened, above, depth); break;
      default: {
        auto dense = c10::make_intrusive<DenseNode>(opened.text.batch, device_of(opened, above));
        node = dense;
        if (!format::checked_bytes(opened.text.batch, 1)) {
          fail(Code::format, opened.where, ": the batch size ", show_sizes(opened.text.batch),
               " is too large");
        }
        check_batch(opened, *node, parent_batch);
        node->set_saved_path(opened.outer.empty() ? opened.dir : opened.outer);
        pending_.push_back({std::move(opened), dense.get(), depth});
        return node;
      }
    }
    check_batch(opened, *node, parent_batch);
    node->set_saved_path(opened.dir);
    return node;
  }

  static void check_batch(const Opened& opened, const Node& node, SizesView above) {
    if (begins_with(node.batch(), above)) return;
    fail(Code::format, opened.where, ": the batch size ", show_sizes(node.batch()),
         " does not begin with that of the dictionary above, ", show_sizes(above));
  }

  // Lists nested as the batch is; what is deeper belongs to the values.
  static NodePtr data_stack(const Opened& opened, SizesView batch,
                            const std::optional<c10::Device>& device) {
    if (opened.text.data == "\"pickle.pkl\"") {
      fail(Code::unsupported, opened.where,
           ": the values were pickled by Python and cannot be read outside of it");
    }
    try {
      return data_from_json(opened.text.data, batch, device);
    } catch (const Error& error) {
      fail(Code::format, opened.where, ": ", error.what());
    }
  }

  // The folders 0, 1, 2 … without a gap.
  NodePtr lazy(const Opened& opened, const Node* above, std::size_t depth) {
    const Descent guard;
    const auto dim = opened.text.stack_dim;
    std::size_t n = 0;
    std::size_t folders = 0;
    for (const std::string& name : files::folders_in(opened.dir, entries_left())) {
      const bool number =
          !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
      folders += number ? 1 : 0;
    }
    const Above none(above);
    std::vector<NodePtr> elements;
    for (; n < folders; ++n) {
      const std::string name = std::to_string(n);
      std::string dir = files::join(opened.dir, name);
      const Found found = files::look(dir).found;
      if (found == Found::link) fail(Code::io, "refused: \"", dir, "\" is a symbolic link");
      if (found != Found::folder) {
        fail(Code::format, opened.where, ": element ", name, " of the lazy stack is missing, of ",
             folders, " in all");
      }
      if (depth + 1 > options_.max_depth) {
        fail(Code::format, opened.where, ": nested deeper than ", options_.max_depth, " levels");
      }
      if (entries_left() == 0) fail(Code::format, opened.where, ": more entries than allowed");
      ++entries_;
      Opened element = open(std::move(dir), format::quote(name));
      if (element.text.type == format::NodeType::data ||
          element.text.type == format::NodeType::data_stack) {
        fail(Code::unsupported, element.where, ": a value cannot be an element of a lazy stack");
      }
      elements.push_back(enter(std::move(element), none.node.get(), depth + 1));
    }
    if (elements.empty()) {
      Sizes batch(above == nullptr ? SizesView() : above->batch());
      if (batch.empty()) batch.push_back(0);
      if (dim >= static_cast<std::int64_t>(batch.size()) ||
          batch[static_cast<std::size_t>(dim)] != 0) {
        fail(Code::format, opened.where, ": a lazy stack without elements");
      }
      return c10::make_intrusive<LazyNode>(std::vector<NodePtr>{}, dim, batch, none.node->device());
    }
    try {
      return lazy_stack(std::move(elements), dim);
    } catch (const Error& error) {
      fail(Code::format, opened.where, ": ", error.what());
    }
  }

  // What the elements of a lazy stack have above them: its device, and nothing of its batch size.
  struct Above {
    explicit Above(const Node* above)
        : node(c10::make_intrusive<DenseNode>(SizesView(),
                                              above == nullptr ? std::nullopt : above->device())) {}
    NodePtr node;
  };

  void fill(const Pending& at) {
    const format::NodeText& text = at.opened.text;
    for (const format::Entry& entry : text.entries) {
      if (entry.is_node) {
        add_node(at, entry.key, find_folder(at, entry.key));
      } else {
        at.node->put(entry.key, leaf(at, entry));
      }
    }
    // The first releases listed no nested dictionaries and wrote no "is_nested".
    const bool listed =
        std::any_of(text.entries.begin(), text.entries.end(),
                    [](const auto& entry) { return entry.is_node || entry.has_is_nested; });
    if (!listed) add_unlisted(at);
    if (!at.opened.record.empty()) at.node->set_record(record_of(at));
  }

  // What is known of a class that only its program has: the fields that are there.
  static RecordTypePtr record_of(const Pending& at) {
    std::vector<RecordField> fields;
    for (std::size_t i = 0; i < at.node->size(); ++i) {
      RecordField field;
      field.name = at.node->name(i);
      field.optional = true;
      const Value& value = at.node->value(i);
      if (value.is_node()) field.kind = is_data(*value.node()) ? FieldKind::value : FieldKind::dict;
      fields.push_back(std::move(field));
    }
    for (const std::string& name : at.opened.empty_fields) {
      if (at.node->find(name) != nullptr) continue;
      RecordField field;
      field.name = name;
      field.optional = true;
      fields.push_back(std::move(field));
    }
    try {
      return std::make_shared<RecordType>(at.opened.record, std::move(fields), RecordOptions{});
    } catch (const Error& error) {
      fail(Code::format, at.opened.where, ": ", error.what());
    }
  }

  void add_unlisted(const Pending& at) {
    for (const std::string& name : files::folders_in(at.opened.dir, entries_left())) {
      std::string dir = files::join(at.opened.dir, name);
      if (files::look(files::join(dir, format::meta_file)).found == Found::nothing) continue;
      if (!is_utf8(name))
        fail(Code::format, at.opened.where, ": a folder beside it has a name that is not UTF-8");
      if (at.node->find(name) != nullptr)
        fail(Code::format, at.opened.where, ": ", format::quote(name),
             " is both a file and a folder");
      if (entries_left() == 0) fail(Code::format, at.opened.where, ": more entries than allowed");
      ++entries_;
      add_node(at, name, std::move(dir));
    }
  }

  void add_node(const Pending& at, const std::string& key, std::string dir) {
    if (at.depth + 1 > options_.max_depth) {
      fail(Code::format, at.opened.where, ": nested deeper than ", options_.max_depth, " levels");
    }
    Opened opened = open(std::move(dir), format::quote(key));
    at.node->put(key, enter(std::move(opened), at.node, at.depth + 1));
  }

  // The names that a key may have on the disk: escaped, and as it is in older folders.
  template <class Accept>
  std::string locate(const Pending& at, const std::string& key, bool is_node,
                     Accept&& accept) const {
    const std::string suffix(is_node ? std::string_view() : format::leaf_suffix);
    const bool verbatim = format::safe_verbatim(key, is_node);
    if (options_.verbatim_names && !verbatim) {
      fail(Code::format, at.opened.where, ": the key ", format::quote(key),
           " leads out of the folder");
    }
    const std::string first =
        files::join(at.opened.dir, (options_.verbatim_names ? key : format::escape(key)) + suffix);
    if (accept(first)) return first;
    if (!options_.verbatim_names && verbatim) {
      std::string second = files::join(at.opened.dir, key + suffix);
      if (second != first && accept(second)) return second;
    }
    return {};
  }

  std::string find_folder(const Pending& at, const std::string& key) const {
    std::string dir = locate(at, key, true, [&](const std::string& path) {
      const Found found = files::look(path).found;
      if (found == Found::link) fail(Code::io, "refused: \"", path, "\" is a symbolic link");
      if (found != Found::nothing && found != Found::folder)
        fail(Code::format, "\"", path, "\" is not a folder");
      return found == Found::folder;
    });
    if (dir.empty()) {
      fail(Code::format, at.opened.where, ": there is no folder for the entry ",
           format::quote(key));
    }
    if (files::look(files::join(dir, format::meta_file)).found == Found::nothing) {
      fail(Code::format, "\"", dir, "\" has no meta.json");
    }
    return dir;
  }

  at::Tensor leaf(const Pending& at, const format::Entry& entry) const {
    const std::string where = at.opened.where + ": " + format::quote(entry.key);
    if (entry.ragged)
      fail(Code::unsupported, where, " is a ragged tensor, which cannot be read yet");
    if (entry.dtype.empty() || !entry.has_shape)
      fail(Code::format, where, " has no dtype or no shape");
    const c10::ScalarType dtype = format::parse_dtype(entry.dtype, where);
    const SizesView sizes = entry.shape;
    const SizesView batch = at.node->batch();
    if (!begins_with(sizes, batch)) {
      fail(Code::format, where, " has shape ", show_sizes(sizes),
           ", which does not begin with the batch size ", show_sizes(batch));
    }
    const std::optional<std::int64_t> bytes = format::checked_bytes(sizes, c10::elementSize(dtype));
    if (!bytes) fail(Code::format, where, " has shape ", show_sizes(sizes), ", which is too large");
    const std::optional<c10::Device>& device = at.node->device();
    const bool meta = device && device->type() == c10::DeviceType::Meta;
    at::Tensor tensor;
    if (*bytes == 0) {
      tensor = fast::make_dense(sizes, dtype);
    } else {
      const std::string path = find_file(at, entry.key, static_cast<std::uint64_t>(*bytes));
      if (!meta) {
        const MapMode mode = options_.private_mapping ? MapMode::priv : MapMode::shared;
        const auto count = static_cast<std::size_t>(*bytes);
        tensor = MappedFile::tensor(MappedFile::open(path, count, mode), 0, sizes, dtype);
      }
    }
    if (meta) return at::empty(sizes, at::TensorOptions(dtype).device(*device));
    return device ? move_to(tensor, *device) : tensor;
  }

  std::string find_file(const Pending& at, const std::string& key, std::uint64_t bytes) const {
    std::string path = locate(at, key, false, [&](const std::string& candidate) {
      const files::Look look = files::look(candidate);
      if (look.found == Found::nothing) return false;
      if (look.found == Found::link)
        fail(Code::io, "refused: \"", candidate, "\" is a symbolic link");
      if (look.found != Found::file)
        fail(Code::format, "\"", candidate, "\" is not a regular file");
      if (look.bytes < bytes) {
        fail(Code::format, "\"", candidate, "\" is too short: ", bytes, " bytes expected, ",
             look.bytes, " found");
      }
      return true;
    });
    if (path.empty()) {
      fail(Code::format, at.opened.where, ": there is no file of values for ", format::quote(key));
    }
    return path;
  }

  const LoadOptions& options_;
  std::optional<c10::Device> device_;
  std::size_t entries_ = 0;
  std::vector<Pending> pending_;
};

}  // namespace

TensorDict load_memmap(const std::string& dir, const LoadOptions& options) {
  if (dir.empty()) fail(Code::io, "no such folder: the path is empty");
  return TensorDict(Loader(options).run(dir));
}

void memmap_flush(const TensorDict& td) {
  std::vector<const MappedFile*> mapped;
  visit(*td.node(), [&](const Value& value) {
    const MappedFile* file = value.is_node() ? nullptr : MappedFile::of(value.tensor());
    if (file != nullptr) mapped.push_back(file);
  });
  std::sort(mapped.begin(), mapped.end());
  mapped.erase(std::unique(mapped.begin(), mapped.end()), mapped.end());
  for (const MappedFile* file : mapped) file->flush();
}

}  // namespace td
