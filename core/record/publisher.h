// core/record/publisher.h: changes the number of rows that a folder declares.
#pragma once

#include "core/record/layout.h"
#include "core/record/row_sums.h"

#include <memory>
#include <string_view>

namespace td::record {

// Works on a locked folder. First write the values through open(), then publish().
class Publisher {
 public:
  // Removes unfinished work of writers that died.
  Publisher(Layout& folder, files::FolderLock& lock, bool durable, std::unique_ptr<RowSums> sums);

  // Must receive all values that are written; nullptr without checksums.
  RowSums* sums() const noexcept { return sums_.get(); }

  // Publishes `rows` of folder.kept_rows() and gives up the others.
  void resume(std::int64_t rows);

  // Between remember() and forget(), complete rows survive a crash: the next writer resumes after them.
  void remember() noexcept;
  void forget() noexcept;

  // Creates the value files of a folder without rows, with `first` as their first bytes: Python cannot map an
  // empty file.
  std::vector<files::Descriptor> create(const std::vector<std::string_view>& first);
  // Opens a leaf's file with exactly `rows` rows, or the published ones if these are more.
  files::Descriptor open(std::size_t leaf, std::int64_t rows = 0);
  std::string path(std::size_t leaf) const { return folder_.at(folder_.leaves()[leaf].file); }
  // Cuts the files to the published rows. Ignores failures: a longer file is still valid.
  void trim() noexcept;

  // All or nothing, unless the step cannot be undone: folder.rows() has the result. Returns true if a new
  // folder took the place; then check open files with still_there().
  bool publish(std::int64_t rows);

  // Publishes with one small write, for readers of this library only. Returns false if that is impossible:
  // durable rows, checksums, or no file of counts.
  bool count(std::int64_t rows);

  static bool still_there(int file, const std::string& path) noexcept;

 private:
  void make_folders(files::FolderReplacement& aside) const;
  void open_count(int flags);
  void reopen_count() noexcept;
  void write_count(const format::RowCount& count) const;
  void publish_one(const LayoutNode& node, std::size_t at, const format::RowCount& next);
  void publish_all(const format::RowCount& next);
  void keep_others(files::FolderReplacement& aside, std::int64_t rows);

  Layout& folder_;
  files::FolderLock& lock_;
  bool durable_;
  std::unique_ptr<RowSums> sums_;
  files::Descriptor count_;  // the file of counts in the current folder
};

// Shortens a file unless this process maps more of it; then a later call may succeed.
void cut_file(int file, std::uint64_t bytes, const std::string& path);
void sync_file(int file, const std::string& path);

}  // namespace td::record
