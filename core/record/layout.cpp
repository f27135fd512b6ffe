#include "core/record/layout.h"

#include "core/base/key.h"
#include "core/formats/stack_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <limits>

namespace td::record {

namespace {

using files::Found;
using format::NodeType;

constexpr std::size_t max_nodes = 1000000;

Path path_of(const std::vector<std::string>& names, std::vector<std::string_view>& buffer) {
  buffer.assign(names.begin(), names.end());
  return buffer;
}

std::string show(const std::vector<std::string>& names) {
  std::vector<std::string_view> buffer;
  return names.empty() ? "the dictionary" : show_path(path_of(names, buffer));
}

// Identifies a published state.
class Stamp {
 public:
  explicit Stamp(const std::string& dir) {
    ::stat(dir.c_str(), &folder_);
    ::lstat(files::join(dir, format::meta_file).c_str(), &meta_);
  }
  bool operator==(const Stamp& other) const noexcept {
    return same(folder_, other.folder_) && same(meta_, other.meta_) &&
           meta_.st_mtim.tv_sec == other.meta_.st_mtim.tv_sec &&
           meta_.st_mtim.tv_nsec == other.meta_.st_mtim.tv_nsec;
  }

 private:
  static bool same(const struct stat& a, const struct stat& b) noexcept {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  }
  struct stat folder_ {};
  struct stat meta_ {};
};

}  // namespace

std::string named_folder(const std::string& dir) {
  if (dir.empty()) fail(Code::io, "no such folder: the path is empty");
  return files::absolute(dir);
}

bool holds_dictionary(const std::string& dir) {
  if (files::look(files::join(dir, ".")).found != Found::folder) return false;
  return files::look(files::join(dir, format::meta_file)).found != Found::nothing;
}

void fail_no_dictionary(const std::string& dir) {
  if (files::look(files::join(dir, ".")).found != Found::folder) {
    fail(Code::io, "no such folder: \"", dir, "\"");
  }
  fail(Code::io, "no dictionary in \"", dir, "\": it has no meta.json");
}

// Reads the nodes one by one and queues their children.
class Layout::Reader {
 public:
  explicit Reader(Layout& folder) : folder_(folder) {}

  void run() {
    begin({}, {});
    for (std::size_t i = 0; i < folder_.nodes_.size() && !folder_.stack_; ++i) enter(i);
    if (folder_.rows_ < 0) {
      fail(Code::shape, "\"", folder_.dir_, "\" has no rows: a batch dimension is needed");
    }
    Hasher stamp;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (folder_.goes_with_count(i)) stamp.add(texts_[i].data(), texts_[i].size());
    }
    folder_.counter_meta_ = stamp.digest();
    folder_.stored_rows_ = folder_.kept_rows_ = folder_.rows_;
    folder_.read_count();
  }

 private:
  std::size_t begin(std::string folder, std::vector<std::string> path) {
    if (folder_.nodes_.size() == max_nodes) {
      fail(Code::format, "\"", folder_.dir_, "\" holds more than ", max_nodes, " dictionaries");
    }
    const std::string dir = folder_.at(folder);
    const files::Descriptor open = open_folder(folder, dir);
    const std::string name(format::meta_file);
    const std::string meta = files::join(dir, name);
    if (folder.empty() && files::look_beneath(open.get(), name, meta).found == Found::nothing) {
      fail(Code::io, "no dictionary in \"", dir, "\": it has no meta.json");
    }
    const std::string inner = files::join(std::string(format::tensorclass_folder), name);
    const bool tensorclass = files::look_beneath(open.get(), inner, meta).found == Found::file;
    LayoutNode node;
    const std::string text = files::read_beneath(open.get(), name, format::max_meta_bytes, meta);
    if (std::optional<format::StackText> stack = format::find_stack(text)) {
      node.text = std::move(stack->node);
      node.listed = stack->count;
    } else {
      node.text =
          format::read_node(text, "\"" + meta + "\"", {max_json_depth + 1, max_nodes, tensorclass});
    }
    // The root dictionary, or the one directly inside a root tensorclass.
    const std::size_t at = folder_.nodes_.size();
    const bool outermost =
        at == 0 || (at == 1 && folder_.nodes_[0].text.type == NodeType::tensorclass);
    if (outermost && node.text.type == NodeType::dense) folder_.counter_ = at;
    texts_.push_back(node.grows() ? text : std::string());
    node.folder = std::move(folder);
    node.path = std::move(path);
    folder_.nodes_.push_back(std::move(node));
    return folder_.nodes_.size() - 1;
  }

  files::Descriptor open_folder(const std::string& relative, const std::string& dir) const {
    files::Descriptor open = files::open_beneath(folder_.folder(), relative, files::folder_flags);
    if (open.is_open()) return open;
    if (errno == ELOOP) fail(Code::io, "refused: \"", dir, "\" is a symbolic link");
    if (errno == ENOENT || errno == ENOTDIR) {
      fail(Code::format, "no such folder: \"", dir, "\"");
    }
    files::fail_io("cannot open the folder", dir, errno);
  }

  void enter(std::size_t i) {
    switch (folder_.nodes_[i].text.type) {
      case NodeType::dense: enter_dense(i); break;
      case NodeType::tensorclass: {
        const LayoutNode& node = folder_.nodes_[i];
        add(i, "", begin(below(node.folder, format::tensorclass_folder), node.path));
        break;
      }
      case NodeType::lazy: enter_lazy(i); break;
      case NodeType::non_tensor:
      case NodeType::non_tensor_stack:
        if (i == 0) fail_entry(i, "holds a value, not a dictionary");
        if (folder_.nodes_[i].text.data.empty()) {
          fail_entry(i, "has values in files of their own, and cannot grow");
        }
        break;
      default: fail_entry(i, "is a sub-tensordict, and cannot grow");
    }
  }

  [[noreturn]] void fail_entry(std::size_t i, const char* why) const {
    fail(Code::unsupported, show(folder_.nodes_[i].path), " in \"", folder_.dir_, "\" ", why);
  }

  void add(std::size_t node, std::string key, std::size_t inner) {
    folder_.nodes_[node].entries.push_back({std::move(key), false, inner});
  }

  void enter_lazy(std::size_t i) {
    const bool by_rows = folder_.nodes_[i].text.stack_dim == 0;
    if (by_rows && i != 0) {
      fail_entry(i, "is a lazy stack along the rows, and cannot grow by rows");
    }
    std::int64_t n = 0;
    const std::string dir = folder_.at(folder_.nodes_[i].folder);
    const files::Descriptor open = open_folder(folder_.nodes_[i].folder, dir);
    for (const files::Item& item : files::list(open.get(), dir)) {
      n += item.found == Found::folder && format::is_number(item.name) ? 1 : 0;
    }
    if (n > static_cast<std::int64_t>(max_nodes)) {
      fail(Code::format, "\"", dir, "\" holds more than ", max_nodes, " folders");
    }
    if (by_rows) {
      folder_.stack_ = true;
      folder_.rows_ = n;
      return;
    }
    for (std::int64_t k = 0; k < n; ++k) {
      const std::string name = std::to_string(k);
      std::vector<std::string> path = folder_.nodes_[i].path;
      path.push_back(name);
      add(i, name, begin(below(folder_.nodes_[i].folder, name), std::move(path)));
    }
  }

  void check_rows(const std::string& what, ShapeView sizes, ShapeView batch) {
    if (sizes.empty() || (folder_.rows_ >= 0 && sizes[0] != folder_.rows_) ||
        sizes.size() < batch.size() || sizes.slice(0, batch.size()) != batch) {
      fail(Code::format, what, " in \"", folder_.dir_, "\" has shape ", show_sizes(sizes),
           ", which does not begin with the batch size above it");
    }
  }

  void enter_dense(std::size_t i) {
    const Shape batch = folder_.nodes_[i].text.batch;
    if (batch.empty() && folder_.rows_ < 0) {
      fail(Code::shape, show(folder_.nodes_[i].path), " in \"", folder_.dir_,
           "\" has no batch dimension to grow along");
    }
    check_rows(show(folder_.nodes_[i].path), batch, {});
    folder_.rows_ = batch[0];
    bool listed = false;
    const std::vector<format::Entry> entries = std::move(folder_.nodes_[i].text.entries);
    for (const format::Entry& entry : entries) {
      listed = listed || entry.is_node || entry.has_is_nested;
      std::vector<std::string> path = folder_.nodes_[i].path;
      path.push_back(entry.key);
      if (entry.is_node) {
        std::string folder = locate(folder_.nodes_[i].folder, entry.key, true);
        add(i, entry.key, begin(std::move(folder), std::move(path)));
      } else {
        add_leaf(i, entry, std::move(path));
      }
    }
    if (!listed && !entries.empty()) {
      fail(Code::unsupported, "\"", folder_.dir_,
           "\" was written by one of the first releases: save it again before it grows");
    }
  }

  void add_leaf(std::size_t i, const format::Entry& entry, std::vector<std::string> path) {
    const std::string where = show(path) + " in \"" + folder_.dir_ + "\"";
    if (entry.nested_tensor)
      fail(Code::unsupported, where, " is a nested tensor and cannot grow by rows");
    if (entry.dtype.empty() || !entry.has_shape) {
      fail(Code::format, where, " has no dtype or no shape");
    }
    check_rows(show(path), entry.shape, folder_.nodes_[i].text.batch);
    LayoutLeaf leaf;
    leaf.dtype = format::parse_dtype(entry.dtype, where);
    leaf.row.assign(entry.shape.begin() + 1, entry.shape.end());
    const std::size_t item = find_dtype(leaf.dtype)->bytes;
    const auto bytes = checked_bytes(leaf.row, item);
    if (!bytes || !checked_bytes(entry.shape, item)) {
      fail(Code::format, where, " has shape ", show_sizes(entry.shape), ", which is too large");
    }
    leaf.row_bytes = static_cast<std::size_t>(*bytes);
    leaf.file = locate(folder_.nodes_[i].folder, entry.key, false);
    leaf.path = std::move(path);
    folder_.nodes_[i].entries.push_back({entry.key, true, folder_.leaves_.size()});
    folder_.leaves_.push_back(std::move(leaf));
  }

  // The escaped name, or the bare key if only that exists, as in older folders.
  std::string locate(const std::string& folder, const std::string& key, bool is_node) const {
    const std::string suffix(is_node ? std::string_view() : format::leaf_suffix);
    std::string path = below(folder, format::escape(key) + suffix);
    if (folder_.look(path).found != Found::nothing) return path;
    if (!format::safe_verbatim(key, is_node)) return path;
    std::string other = below(folder, key + suffix);
    return folder_.look(other).found != Found::nothing ? other : path;
  }

  Layout& folder_;
  std::vector<std::string> texts_;  // of the dictionaries
};

Layout::Layout(std::string dir, const files::FolderLock& lock)
    : dir_(std::move(dir)), lock_(&lock) {
  Reader(*this).run();
}

Layout::Layout(std::string dir, files::Descriptor open)
    : dir_(std::move(dir)), own_(std::make_shared<files::Descriptor>(std::move(open))) {
  if (!own_->is_open()) files::fail_io("cannot open the folder", dir_, errno);
  Reader(*this).run();
}

Layout Layout::glance(const std::string& dir) {
  for (int attempt = 0;; ++attempt) {
    const Stamp before(dir);
    try {
      Layout folder(dir, files::Descriptor(::open(dir.c_str(), files::folder_flags)));
      if (before == Stamp(dir) || attempt == 100) return folder;
    } catch (const Error&) {
      if (before == Stamp(dir) || attempt == 100) throw;
    }
  }
}

std::optional<std::int64_t> Layout::whole_rows() const {
  std::optional<std::int64_t> result;
  for (const LayoutLeaf& leaf : leaves_) {
    if (leaf.row_bytes == 0) continue;
    const files::Look file = look(leaf.file);
    const std::uint64_t rows = file.found == Found::file ? file.bytes / leaf.row_bytes : 0;
    result = std::min(result.value_or(std::numeric_limits<std::int64_t>::max()),
                      static_cast<std::int64_t>(rows));
  }
  return result;
}

// A count is valid if it matches the meta.json files and every file has its rows. While a count exists, rows
// beyond it belong to a writer that is active or died.
void Layout::read_count() {
  const std::string name(format::count_file);
  if (stack_ || values_by_row() != nullptr || look(name).found != Found::file) return;
  const std::string content = files::read_beneath(folder(), name, format::max_count_file, at(name));
  const std::optional<format::RowCount> count = format::read_count(content, counter_meta_);
  if (!count || count->base != stored_rows_) return;
  const std::int64_t whole = whole_rows().value_or(count->rows);
  if (whole < count->rows) return;
  rows_ = count->rows;
  kept_rows_ = whole;
  sequence_ = count->sequence;
}

bool Layout::goes_with_count(std::size_t node) const noexcept {
  return counter_ == no_node ? nodes_[node].grows() : node == counter_;
}

Digest Layout::stamp(std::int64_t rows) const {
  Hasher result;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!goes_with_count(i)) continue;
    const std::string meta = text(i, rows);
    result.add(meta.data(), meta.size());
  }
  return result.digest();
}

format::RowCount Layout::next_count(std::int64_t rows) const noexcept {
  return {stored_rows_, rows, sequence_ + 1, counter_meta_};
}

format::RowCount Layout::next_base(std::int64_t rows) const {
  return {rows, rows, sequence_ + 1, stamp(rows)};
}

void Layout::set_counted(const format::RowCount& count) noexcept {
  rows_ = count.rows;
  sequence_ = count.sequence;
}

void Layout::set_base(const format::RowCount& count) noexcept {
  set_counted(count);
  stored_rows_ = count.base;
  counter_meta_ = count.meta;
}

std::string Layout::text(std::size_t at, std::int64_t rows) const {
  const LayoutNode& node = nodes_[at];
  const format::NodeText& text = node.text;
  switch (text.type) {
    case NodeType::non_tensor: return format::non_tensor_text(text.data);
    case NodeType::non_tensor_stack:
      return format::non_tensor_stack_text(text.data, text.stack_dim, text.device);
    case NodeType::lazy: return format::lazy_text(text.stack_dim);
    case NodeType::tensorclass:
      return format::tensorclass_text(text.tensorclass, text.empty_fields, text.fields);
    default: break;
  }
  const std::string device = text.device.value_or("None");
  format::DenseText result;
  Shape sizes{rows};
  for (const LayoutNode::Entry& entry : node.entries) {
    if (entry.is_leaf) {
      const LayoutLeaf& leaf = leaves_[entry.index];
      sizes.resize(1);
      sizes.insert(sizes.end(), leaf.row.begin(), leaf.row.end());
      result.leaf(entry.key, "cpu", sizes, find_dtype(leaf.dtype)->torch);
    } else if (nodes_[entry.index].text.type == NodeType::tensorclass) {
      result.tensorclass(entry.key, nodes_[entry.index].text.tensorclass);
    } else {
      result.node(entry.key, nodes_[entry.index].text.type);
    }
  }
  sizes.resize(1);
  sizes.insert(sizes.end(), node.row().begin(), node.row().end());
  return std::move(result).finish(sizes, device);
}

void Layout::set_non_tensor(std::size_t node, NodeType type, std::string json) {
  nodes_[node].text.type = type;
  nodes_[node].text.data = std::move(json);
  nodes_[node].listed = -1;
}

void Layout::add_listed(std::size_t node, std::string_view json, std::int64_t rows) {
  format::extend_list(nodes_[node].text.data, json);
  nodes_[node].listed = rows;
}

const LayoutNode* Layout::values_by_row() const noexcept {
  for (const LayoutNode& node : nodes_) {
    if (node.text.type == NodeType::non_tensor_stack) return &node;
  }
  return nullptr;
}

std::size_t Layout::growing_nodes() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const LayoutNode& n) { return n.changes(); }));
}

std::size_t Layout::find(Path path) const {
  check_path(path);
  const auto is_path = [&](const std::vector<std::string>& names) {
    return std::equal(names.begin(), names.end(), path.begin(), path.end());
  };
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (is_path(leaves_[i].path)) return i;
  }
  for (const LayoutNode& node : nodes_) {
    if (is_path(node.path)) fail(Code::wrong_entry, show_path(path), " is not a tensor");
  }
  fail(Code::key_not_found, "no entry ", show_path(path), " in \"", dir_, "\"");
}

}  // namespace td::record
