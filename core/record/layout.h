// core/record/layout.h: a folder with rows along the first batch dimension, as its meta.json files describe
// it: their texts for any number of rows, and the format of the value files, which are not opened.
#pragma once

#include "core/base/key.h"
#include "core/formats/row_count.h"
#include "core/io/folder.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace td::record {

using files::below;

// A file of values and the size of a row in it.
struct LayoutLeaf {
  std::vector<std::string> path;  // of keys
  std::string file;               // relative to the folder
  DType dtype;
  Shape row;  // without the first size
  std::size_t row_bytes;
};

struct LayoutNode {
  struct Entry {
    std::string key;
    bool is_leaf;
    std::size_t index;  // into the leaves or the nodes
  };
  std::string folder;  // relative to the folder; empty: the folder itself
  std::vector<std::string> path;
  format::NodeText text;  // as read
  std::vector<Entry>
      entries;  // of a dictionary, elements of a lazy stack, or the content of a tensorclass
  // Values in a non-tensor stack's list; -1: not counted.
  std::int64_t listed = -1;
  ShapeView row() const { return ShapeView(text.batch).slice(1); }
  bool grows() const noexcept { return text.type == format::NodeType::dense; }
  bool by_row() const noexcept { return text.type == format::NodeType::non_tensor_stack; }
  // Whether its meta.json depends on the number of rows.
  bool changes() const noexcept {
    return grows() || text.type == format::NodeType::non_tensor_stack;
  }
};

class Layout {
 public:
  // Reads each meta.json; `dir` is absolute, and `lock` must outlive this object. Code::shape without a
  // dimension to grow along, Code::unsupported for entries that cannot grow.
  Layout(std::string dir, const files::FolderLock& lock);

  // Reads without a lock, again if the folder changes meanwhile.
  static Layout glance(const std::string& dir);

  const std::string& dir() const noexcept { return dir_; }
  // An open descriptor of the folder; it changes when the folder is replaced.
  int folder() const noexcept { return lock_ != nullptr ? lock_->descriptor() : own_->get(); }
  files::Look look(const std::string& relative) const {
    return files::look_beneath(folder(), relative, at(relative));
  }
  std::string at(const std::string& relative) const {
    return relative.empty() ? dir_ : files::join(dir_, relative);
  }
  const std::vector<LayoutNode>& nodes() const noexcept { return nodes_; }
  const std::vector<LayoutLeaf>& leaves() const noexcept { return leaves_; }

  // Whether the folder is a lazy stack along the first dimension, which grows by elements.
  bool is_stack() const noexcept { return stack_; }

  // Published rows or elements: those in the meta.json files, plus counted ones (row_count.h).
  std::int64_t rows() const noexcept { return rows_; }
  // Rows in the meta.json files.
  std::int64_t stored_rows() const noexcept { return stored_rows_; }
  // Complete rows that every value file has; nullopt if rows have no bytes.
  std::optional<std::int64_t> whole_rows() const;
  // rows(), plus complete rows that a writer left without closing.
  std::int64_t kept_rows() const noexcept { return kept_rows_; }

  // Whether a file of counts works: the root is a dictionary with stored rows.
  bool can_count() const noexcept { return stored_rows_ > 0 && counter_ != no_node; }
  // The next record of the file of counts: for the current meta.json files, or for those with `rows` rows.
  // Call set_counted() or set_base() once it is written.
  format::RowCount next_count(std::int64_t rows) const noexcept;
  format::RowCount next_base(std::int64_t rows) const;
  void set_counted(const format::RowCount& count) noexcept;
  void set_base(const format::RowCount& count) noexcept;

  // A node's meta.json for a number of rows.
  std::string text(std::size_t node, std::int64_t rows) const;

  // Replaces the values of a non-tensor entry, or appends to a list that was not read.
  void set_non_tensor(std::size_t node, format::NodeType type, std::string json);
  void add_listed(std::size_t node, std::string_view json, std::int64_t rows);
  // A non-tensor entry with a value for each row, or nullptr.
  const LayoutNode* values_by_row() const noexcept;

  // Number of meta.json files that depend on the number of rows. If it is 1, a rename publishes.
  std::size_t growing_nodes() const noexcept;

  // The leaf at a path; Code::key_not_found, Code::wrong_entry.
  std::size_t find(Path path) const;
  // The node with a value for each row at a path; nullopt without such a node.
  std::optional<std::size_t> find_by_row(Path path) const;

 private:
  class Reader;
  void read();
  Layout(std::string dir, files::Descriptor open);

  std::string dir_;
  const files::FolderLock* lock_ = nullptr;
  std::shared_ptr<files::Descriptor> own_;  // if there is no lock
  std::vector<LayoutNode> nodes_;           // parents before children
  std::vector<LayoutLeaf> leaves_;
  static constexpr std::size_t no_node = static_cast<std::size_t>(-1);
  bool goes_with_count(std::size_t node) const noexcept;
  Digest stamp(std::int64_t rows) const;
  void read_count();

  std::int64_t rows_ = -1;
  std::int64_t stored_rows_ = 0;
  std::int64_t kept_rows_ = 0;
  std::size_t counter_ = no_node;  // the root dictionary, whose meta.json the counts refer to
  Digest counter_meta_;            // of its meta.json, or of all that depend on the number of rows
  std::uint64_t sequence_ = 0;     // of the last record
  bool stack_ = false;
};

// The absolute path; Code::io if it is empty.
std::string named_folder(const std::string& dir);
// Whether the folder has a meta.json.
bool holds_dictionary(const std::string& dir);
[[noreturn]] void fail_no_dictionary(const std::string& dir);

}  // namespace td::record
