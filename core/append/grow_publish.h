// The step from the rows that a folder says it has to another number of them.
#pragma once

#include "core/append/grow_folder.h"
#include "core/append/grow_sums.h"

#include <memory>

namespace td {

// Works on a folder whose lock is held. Values come first, by open(); publish() is the step.
class Publisher {
 public:
  // What a writer that was killed has left unfinished goes.
  Publisher(GrowFolder& folder, files::FolderLock& lock, bool durable,
            std::unique_ptr<GrowSums> sums);

  // What is told of each byte that is written; nullptr: there are no checksums.
  GrowSums* sums() const noexcept { return sums_.get(); }

  // The file of a leaf, to be written to behind the published rows; what was there goes. A folder
  // without rows has no files of values (Python could not map them): until the first are published they
  // are in a folder aside. `rows`: so many are there, published or not.
  files::Descriptor open(std::size_t leaf, std::int64_t rows = 0);
  // The path of that file, for messages.
  std::string path(std::size_t leaf) const;

  // Whatever fails leaves the folder as it was, and may be tried again: only where the step could not be
  // taken back does the folder have the rows afterwards, and folder.rows() says so.
  // Whether another folder has taken the place: descriptors from before are to be looked at then, see
  // still_there().
  bool publish(std::int64_t rows);

  // The cheap way for many meta.json files: one small write, and only readers of this library see the
  // rows. False where it is not possible: what is to be durable, or has checksums, or has one meta.json.
  bool count(std::int64_t rows);

  // Whether a path names an open file.
  static bool still_there(int file, const std::string& path) noexcept;

 private:
  void begin_aside();
  void open_count();
  void drop_count() noexcept;
  void publish_one(const GrowNode& node, std::size_t at, std::int64_t rows);
  void publish_all(std::int64_t rows);
  void keep_others(std::int64_t rows);

  GrowFolder& folder_;
  files::FolderLock& lock_;
  bool durable_;
  std::unique_ptr<GrowSums> sums_;
  std::unique_ptr<files::FolderReplacement> aside_;
  files::Descriptor count_;  // the file of counts in the folder as it is now
};

// Shortens a file, unless this process has more of it mapped: a later cut may do it then.
void cut_file(int file, std::uint64_t bytes, const std::string& path);
void sync_file(int file, const std::string& path);

// A new folder without rows, with the entries of a dictionary, and the lock on it. Nothing when there is
// one, or somebody else is making it.
std::optional<files::FolderLock> make_grow_folder(const std::string& dir, const TensorDict& like,
                                                  bool durable);

// A new folder for a lazy stack along the rows, without elements.
void make_stack_folder(const std::string& dir, bool durable);

}  // namespace td
