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

// Of a list of values: leaves room for the rest of the meta.json.
constexpr std::size_t most_listed = format::max_meta_bytes - (std::size_t{1} << 12);

bool is_path(const std::vector<std::string>& names, Path path) {
  return std::equal(names.begin(), names.end(), path.begin(), path.end());
}

std::string show_names(const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return show_path(views);
}

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

Layout::Layout(std::string dir, const files::FolderLock& lock)
    : dir_(std::move(dir)), lock_(&lock) {
  read();
}

Layout::Layout(std::string dir, files::Descriptor open)
    : dir_(std::move(dir)), own_(std::make_shared<files::Descriptor>(std::move(open))) {
  if (!own_->is_open()) files::fail_io("cannot open the folder", dir_, errno);
  read();
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
    case NodeType::lazy: return format::lazy_text(text.stack_dim, text.stack_dim_name);
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
  return std::move(result).finish(sizes, device, text.names);
}

void Layout::set_non_tensor(std::size_t node, NodeType type, std::string json) {
  nodes_[node].text.type = type;
  nodes_[node].text.data = std::move(json);
  nodes_[node].listed = -1;
}

void Layout::add_listed(std::size_t node, std::string_view json, std::int64_t rows) {
  if (nodes_[node].text.data.size() + json.size() > most_listed) {
    fail(Code::capacity, "the values of ", show_names(nodes_[node].path), " in \"", dir_,
         "\" would take more than ", most_listed, " bytes, which no meta.json may have");
  }
  format::extend_list(nodes_[node].text.data, json);
  nodes_[node].listed = rows;
}

const LayoutNode* Layout::values_by_row() const noexcept {
  for (const LayoutNode& node : nodes_) {
    if (node.by_row()) return &node;
  }
  return nullptr;
}

std::size_t Layout::growing_nodes() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const LayoutNode& n) { return n.changes(); }));
}

std::optional<std::size_t> Layout::find_by_row(Path path) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].by_row() && is_path(nodes_[i].path, path)) return i;
  }
  return std::nullopt;
}

std::size_t Layout::find(Path path) const {
  check_path(path);
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (is_path(leaves_[i].path, path)) return i;
  }
  for (const LayoutNode& node : nodes_) {
    if (!is_path(node.path, path)) continue;
    const bool one = node.text.type == NodeType::non_tensor;
    fail(Code::wrong_entry, show_path(path),
         one ? " has one value for all rows, not one for each" : " is not a tensor");
  }
  fail(Code::key_not_found, "no entry ", show_path(path), " in \"", dir_, "\"");
}

}  // namespace td::record
