// core/record/publisher.h: the step from the rows that a folder says it has to another number of them.
#pragma once

#include "core/record/layout.h"
#include "core/record/row_sums.h"

#include <memory>
#include <string_view>

namespace td::record {

// Works on a folder whose lock is held. Values come first, by open(); publish() is the step.
class Publisher {
 public:
  // Removes unfinished work of writers that have died.
  Publisher(Layout& folder, files::FolderLock& lock, bool durable, std::unique_ptr<RowSums> sums);

  // What is told of each byte that is written; nullptr: there are no checksums.
  RowSums* sums() const noexcept { return sums_.get(); }

  // Publishes so many of folder.kept_rows(). The others are no longer remembered.
  void resume(std::int64_t rows);

  // From now on rows behind the published ones are not lost when the process dies: the next writer resumes
  // after them. Until forget().
  void remember() noexcept;
  void forget() noexcept;

  // Creates the files of values of a folder without rows: `first` holds the first bytes of each. They
  // appear with these, because Python cannot map an empty file.
  std::vector<files::Descriptor> create(const std::vector<std::string_view>& first);
  // The file of a leaf, with exactly `rows` rows, at least the published ones.
  files::Descriptor open(std::size_t leaf, std::int64_t rows = 0);
  // The path of that file, for messages.
  std::string path(std::size_t leaf) const { return folder_.at(folder_.leaves()[leaf].file); }
  // Cuts what lies behind the published rows. Does not throw where a file cannot be cut: a longer one says
  // nothing wrong.
  void trim() noexcept;

  // Whatever fails leaves the folder as it was, and may be tried again: only where the step could not be
  // taken back does the folder have the rows afterwards, and folder.rows() says so.
  // Whether another folder has taken the place: descriptors from before are to be looked at then, see
  // still_there().
  bool publish(std::int64_t rows);

  // The cheap way: one small write, and only readers of this library see the rows. False where it is not
  // possible: what is to be durable, or has checksums, or no count.
  bool count(std::int64_t rows);

  // Whether a path names an open file.
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
  files::Descriptor count_;  // the file of counts in the folder as it is now
};

// Shortens a file, unless this process has more of it mapped: a later cut may do it then.
void cut_file(int file, std::uint64_t bytes, const std::string& path);
void sync_file(int file, const std::string& path);

}  // namespace td::record
