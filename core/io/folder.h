// core/io/folder.h: replaces a whole folder, with one writer at a time. docs/design/disk.md describes the
// steps on disk and what readers and crashes can observe.
#pragma once

#include "core/io/unfinished.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td::files {

// Builds a folder aside, then puts it in place of an existing folder, or of nothing, in one step. Without
// commit(), removes everything it made.
class FolderReplacement {
 public:
  enum class Way {
    fresh,     // no folder exists: one rename
    exchange,  // exchanges the two folders, then removes the old one
    merge,     // renames files into the existing folder one by one, meta.json files last
  };

  // Removes what a writer that died left aside for this folder. The caller holds the folder's lock.
  static void sweep(const std::string& target, const FolderLock& held);

  // `target` is absolute; creates missing parents and follows a link at its end. Throws Code::busy while
  // another writer holds the folder. `held` is the caller's own lock on it, which commit() moves to the new
  // folder; Code::io if that folder no longer has this name. Merges if an exchange is not possible or not
  // `wanted`.
  explicit FolderReplacement(const std::string& target, FolderLock* held = nullptr,
                             bool exchange_wanted = true);
  ~FolderReplacement();
  FolderReplacement(const FolderReplacement&) = delete;
  FolderReplacement& operator=(const FolderReplacement&) = delete;

  Way way() const noexcept { return way_; }
  const std::string& target() const noexcept { return target_; }       // final path
  const std::string& path() const noexcept { return aside_->path(); }  // path while it is built
  int folder() const noexcept { return aside_->content(); }  // the folder being built, open

  // Creates a folder, with its parents and the old folder's permissions.
  void make_folder(const std::string& relative);

  // Creates a file, open for reading and writing, with the permissions of the old one. Thread-safe.
  Descriptor create(const std::string& relative, const Look& old) const;
  // Creates a file with this content; looks up the old one itself.
  void write(const std::string& relative, std::string_view content) const;

  // Keeps a file or a folder tree of the old folder, by links, or by copies if the file system lacks links.
  // Paths are relative; creates parents. Does nothing when merging: everything stays.
  void keep(const std::string& relative);

  // Marks a file or folder for removal. Needed only when merging; otherwise it is not kept anyway.
  void drop(const std::string& relative) { dropped_.push_back(relative); }

  // Puts the folder in place. Throws Code::busy if another folder took the place meanwhile, else Code::io;
  // the old folder stays then, unless in_place() is true. `durable`: waits until everything, including the
  // folder's name, is on disk.
  void commit(bool durable = false);

  // After a failure: whether the new folder is in place, because the step could not be undone.
  bool in_place() const noexcept { return in_place_; }

 private:
  // A folder in the old tree and its counterpart in the new one. The last pair stays open.
  struct Pair {
    std::string folder;
    Descriptor from;
    Descriptor to;
  };
  const Pair& pair(const std::string& folder);

  // Whether the existing folder can be exchanged: it neither is nor contains a mount point or the current
  // folder, and its parent and owner allow it.
  bool can_replace() const;
  void copy_manner() const;
  bool exchange(bool durable);
  void merge(bool durable);
  void finish(bool replaced);
  void keep_file(const Pair& at, const std::string& name) const;

  std::string target_;
  std::string parent_;
  std::string name_;                  // in the parent
  NewFolders parents_;                // that this object created
  FolderLock own_;                    // on the old folder, unless the caller holds it
  FolderLock* held_;                  // on the old folder
  std::optional<Aside> aside_;        // reset when done
  std::vector<std::string> folders_;  // in the new folder
  std::vector<std::string> dropped_;
  Pair pair_;
  unsigned cut_modes_ = 0;  // permissions that new files do not get
  unsigned user_ = 0;       // of this process
  unsigned group_ = 0;
  Way way_ = Way::fresh;
  bool in_place_ = false;
};

// Removes a file or a folder tree; follows no link and stays in its file system. Skips what cannot be
// removed.
void remove_tree(const std::string& path) noexcept;
void empty_folder(int folder) noexcept;  // empties an open folder and keeps it

// Waits until a folder's names are on disk. The descriptor may be O_PATH.
void sync_folder(int folder, const std::string& path);

// Waits until an open folder and everything below it is on disk.
void sync_tree(int folder, const std::string& path);

}  // namespace td::files
