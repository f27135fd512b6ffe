// core/record/layout.h: a folder whose dictionaries have their rows along the first batch dimension, as its
// meta.json files describe it: what stands in each of them for any number of rows, and how the files of
// values lie. No file of values is opened here.
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

// Where a file of values is, and what one row takes in it.
struct LayoutLeaf {
  std::vector<std::string> path;  // of keys
  std::string file;               // below the folder
  DType dtype;
  Shape row;  // the sizes without the first
  std::size_t row_bytes;
};

struct LayoutNode {
  struct Entry {
    std::string key;
    bool is_leaf;
    std::size_t index;  // among the leaves or the nodes
  };
  std::string folder;  // below the folder; empty: the folder itself
  std::vector<std::string> path;
  format::NodeText text;  // as it was read
  std::vector<Entry>
      entries;  // of a dictionary, or the elements of a lazy stack, or the one of a tensorclass
  // How many values stand in the list of a stack of values; -1: `text.data` was read and is compact.
  std::int64_t listed = -1;
  ShapeView row() const { return ShapeView(text.batch).slice(1); }
  bool grows() const noexcept { return text.type == format::NodeType::dense; }
  // Whether its meta.json depends on the number of rows.
  bool changes() const noexcept {
    return grows() || text.type == format::NodeType::non_tensor_stack;
  }
};

class Layout {
 public:
  // Reads each meta.json; `dir` is absolute, and the lock is on it as long as the object lives.
  // Code::shape when there is no dimension to grow along,
  // Code::unsupported when something in it cannot grow.
  Layout(std::string dir, const files::FolderLock& lock);

  // The same without a lock. Reads again if the folder changes meanwhile.
  static Layout glance(const std::string& dir);

  const std::string& dir() const noexcept { return dir_; }
  // An open descriptor of the folder. It changes when the folder is replaced.
  int folder() const noexcept { return lock_ != nullptr ? lock_->descriptor() : own_->get(); }
  files::Look look(const std::string& relative) const {
    return files::look_beneath(folder(), relative, at(relative));
  }
  std::string at(const std::string& relative) const {
    return relative.empty() ? dir_ : files::join(dir_, relative);
  }
  const std::vector<LayoutNode>& nodes() const noexcept { return nodes_; }
  const std::vector<LayoutLeaf>& leaves() const noexcept { return leaves_; }

  // Whether the folder is a lazy stack along the first dimension: it grows by whole elements.
  bool is_stack() const noexcept { return stack_; }

  // Published rows, or elements: those that the meta.json files declare, and those counted behind them
  // (row_count.h).
  std::int64_t rows() const noexcept { return rows_; }
  // The rows that the meta.json files declare.
  std::int64_t stored_rows() const noexcept { return stored_rows_; }
  // Whole rows that every file of values has; nothing when no row takes bytes.
  std::optional<std::int64_t> whole_rows() const;
  // rows() and the whole rows behind them that a writer left without closing.
  std::int64_t kept_rows() const noexcept { return kept_rows_; }

  // Whether readers go by a count: the folder has rows, and its root is a dictionary.
  bool can_count() const noexcept { return stored_rows_ > 0 && counter_ != no_node; }
  // The next record of the file of counts: for the meta.json files as they are, or for those with `rows`
  // rows. set_counted() and set_base() note that it has been written.
  format::RowCount next_count(std::int64_t rows) const noexcept;
  format::RowCount next_base(std::int64_t rows) const;
  void set_counted(const format::RowCount& count) noexcept;
  void set_base(const format::RowCount& count) noexcept;

  // The content of a meta.json for a number of rows.
  std::string text(std::size_t node, std::int64_t rows) const;

  // Replaces the values of a non-tensor entry; adds values to a list that was not read.
  void set_non_tensor(std::size_t node, format::NodeType type, std::string json);
  void add_listed(std::size_t node, std::string_view json, std::int64_t rows);
  // Whether some entry has a value of its own for each row.
  const LayoutNode* values_by_row() const noexcept;

  // How many meta.json files depend on the number of rows. With one, a rename publishes.
  std::size_t growing_nodes() const noexcept;

  // The leaf of a path; Code::key_not_found, Code::wrong_entry.
  std::size_t find(Path path) const;

 private:
  class Reader;
  Layout(std::string dir, files::Descriptor open);

  std::string dir_;
  const files::FolderLock* lock_ = nullptr;
  std::shared_ptr<files::Descriptor> own_;  // without a lock
  std::vector<LayoutNode> nodes_;           // a node before those in it
  std::vector<LayoutLeaf> leaves_;
  static constexpr std::size_t no_node = static_cast<std::size_t>(-1);
  bool goes_with_count(std::size_t node) const noexcept;
  Digest stamp(std::int64_t rows) const;
  void read_count();

  std::int64_t rows_ = -1;
  std::int64_t stored_rows_ = 0;
  std::int64_t kept_rows_ = 0;
  std::size_t counter_ = no_node;  // a dictionary at the root, whose meta.json a count goes with
  Digest counter_meta_;         // of that one; without it, of all that say how many rows there are
  std::uint64_t sequence_ = 0;  // of the last count
  bool stack_ = false;
};

// The path from the root; Code::io when it is empty.
std::string named_folder(const std::string& dir);
// Whether a meta.json lies in a folder.
bool holds_dictionary(const std::string& dir);
[[noreturn]] void fail_no_dictionary(const std::string& dir);

}  // namespace td::record
