// core/io/folder.h: a folder with one writer at a time, and folders that are replaced as a whole. What
// happens on the disk, and what a reader and a crash can see of it, stands in docs/design/disk.md.
#pragma once

#include "core/io/unfinished.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td::files {

// A folder that is made aside and then takes the place of another, or of none, in one step. Without
// commit() all that was made goes away.
class FolderReplacement {
 public:
  enum class Way {
    fresh,     // nothing is there: one rename
    exchange,  // the old folder and the new one are exchanged, and the old one is removed
    merge,     // files are renamed into the folder that is there, one by one, a meta.json last
  };

  // Whether the folder that is there can be exchanged for another: not a mount point or around one, not
  // the current folder or around it, and with a parent and an owner that this process may use.
  static bool can_replace(const std::string& target);

  // Removes what a writer that has died made aside for this folder; the caller holds the lock on it.
  static void sweep(const std::string& target, const FolderLock& held);

  // `target` is absolute; missing parents are made, and a link at its end is followed. Throws Code::busy
  // while another writer works there, unless `held` is a lock of the caller's on the folder, which still
  // has this name (Code::io): commit() then puts the lock on the new folder there. Where an exchange is not possible, or not `wanted`,
  // the way is merge.
  explicit FolderReplacement(const std::string& target, FolderLock* held = nullptr,
                             bool exchange_wanted = true);
  ~FolderReplacement();
  FolderReplacement(const FolderReplacement&) = delete;
  FolderReplacement& operator=(const FolderReplacement&) = delete;

  Way way() const noexcept { return way_; }
  const std::string& target() const noexcept { return target_; }  // where it will be
  const std::string& path() const noexcept {
    return aside_->path();
  }                                                          // where it is made, empty at first
  int folder() const noexcept { return aside_->content(); }  // that one, open

  // A folder in the new one, its parents before it. It gets the permissions of the old one of this
  // name.
  void make_folder(const std::string& relative);

  // A file in the new folder, open for reading and writing, with the permissions of the old one that it
  // stands for. May be called by several threads.
  Descriptor create(const std::string& relative, const Look& old) const;
  // The same with a content; the old one is looked for.
  void write(const std::string& relative, std::string_view content) const;

  // What the new folder shall have from the old one: a file, or a folder with all that is in it. Paths
  // are relative to the folder; folders on the way are made. Files are linked, or copied where the file
  // system does not link. Does nothing when the way is merge: there it stays anyway.
  void keep(const std::string& relative);

  // A file or folder of the old one that the new one has not. Says something only for merge, where it
  // is removed at the end.
  void drop(const std::string& relative) { dropped_.push_back(relative); }

  // The folder takes its place. Throws Code::busy when another one has come there meanwhile, Code::io
  // otherwise; what was there before stays then, unless in_place() says otherwise. `durable`: returns when
  // all of it is on the disk, the name of the folder included.
  void commit(bool durable = false);

  // After a failure: the new one has taken the place, and could not be taken back.
  bool in_place() const noexcept { return in_place_; }

 private:
  // A folder below the old one and the same below the new one; the last are kept open.
  struct Pair {
    std::string folder;
    Descriptor from;
    Descriptor to;
  };
  const Pair& pair(const std::string& folder);

  void copy_manner() const;
  bool exchange(bool durable);
  void merge(bool durable);
  void finish();
  void keep_file(const Pair& at, const std::string& name) const;

  std::string target_;
  std::string parent_;
  std::string name_;                  // in the parent
  NewFolders parents_;                // of a target that had none
  FolderLock own_;                    // on the old folder, unless the caller has it
  FolderLock* held_;                  // on the old folder
  std::optional<Aside> aside_;        // nothing once it is done
  std::vector<std::string> folders_;  // in the new one
  std::vector<std::string> dropped_;
  Pair pair_;
  unsigned cut_modes_ = 0;  // permissions that new files do not get
  Way way_ = Way::fresh;
  bool in_place_ = false;
};

// Removes a file or a folder with all that is in it; follows no link and enters no other file system.
// What cannot be removed stays.
void remove_tree(const std::string& path) noexcept;
void empty_folder(int folder) noexcept;  // an open one, which stays

// Waits until the names in a folder are on the disk; of a descriptor that may only name it.
void sync_folder(int folder, const std::string& path);

// Waits until all files and folders below an open folder are on the disk, and itself.
void sync_tree(int folder, const std::string& path);

}  // namespace td::files
