// Opening a folder. What stands in it may come from anybody: names, sizes, nesting and links are
// checked before they are used.
#include "td/assign.h"
#include "td/device.h"
#include "td/fast_path.h"
#include "td/file_io.h"
#include "td/format.h"
#include "td/mapped_file.h"
#include "td/memmap.h"
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
    if (opened.text.type != format::NodeType::dense) {
      fail(Code::unsupported, "\"", root, "\" holds a value, not a dictionary");
    }
    NodePtr result = make_node(opened, nullptr);
    begin(std::move(opened), result, 0);
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
    format::NodeText node = format::read_node(text, where, {depth, entries_left()});
    entries_ += node.entries.size();
    return {std::move(dir), std::move(where), std::move(node)};
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

  NodePtr make_node(Opened& opened, const Node* above) const {
    const SizesView parent_batch = above == nullptr ? SizesView() : above->batch();
    NodePtr node;
    if (opened.text.type == format::NodeType::data) {
      node = c10::make_intrusive<DataNode>(std::move(opened.text.data), parent_batch,
                                           above == nullptr ? std::nullopt : above->device());
    } else {
      const SizesView batch = opened.text.batch;
      if (!begins_with(batch, parent_batch)) {
        fail(Code::format, opened.where, ": the batch size ", show_sizes(batch),
             " does not begin with that of the dictionary above, ", show_sizes(parent_batch));
      }
      if (!format::checked_bytes(batch, 1)) {
        fail(Code::format, opened.where, ": the batch size ", show_sizes(batch), " is too large");
      }
      node = c10::make_intrusive<DenseNode>(batch, device_of(opened, above));
    }
    node->set_saved_path(opened.dir);
    return node;
  }

  void begin(Opened opened, const NodePtr& node, std::size_t depth) {
    DenseNode* dense = as_dense(node.get());
    if (dense != nullptr) pending_.push_back({std::move(opened), dense, depth});
  }

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
    NodePtr node = make_node(opened, at.node);
    at.node->put(key, node);
    begin(std::move(opened), node, at.depth + 1);
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
