// core/record/publisher.h: changes the number of rows that a folder declares.
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

  // Must be told of all values that are written; nullptr without checksums.
  RowSums* sums() const noexcept { return sums_.get(); }

  // Publishes so many of folder.kept_rows(). The others are no longer remembered.
  void resume(std::int64_t rows);

  // After remember(), rows behind the published ones are not lost if the process dies: the next writer
  // resumes after them. forget() ends that.
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

  // A failure leaves the folder as it was, unless the step could not be taken back; folder.rows() says which.
  // Returns whether another folder has taken the place: ask still_there() for open files then.
  bool publish(std::int64_t rows);

  // Publishes for readers of this library only, with one small write. False if that is not possible: with
  // durable rows, with checksums, without a file of counts.
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
