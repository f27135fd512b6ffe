// core/io/folder.h: a folder with one writer at a time, and folders that are replaced as a whole. What
// happens on the disk, and what a reader and a crash can see of it, stands in docs/design/disk.md.
#pragma once

#include "core/io/file_io.h"

#include <memory>
#include <string>
#include <vector>

namespace td::files {

// Says that this writer works on a folder. The lock is advisory, goes with the process, and counts
// between threads of one process, too. On file systems without locks nothing is held.
class FolderLock {
 public:
  FolderLock() noexcept = default;
  // Throws Code::busy while another one holds it, and Code::io when there is no such folder. A link to
  // a folder is followed.
  explicit FolderLock(const std::string& path);
  ~FolderLock() { release(); }
  FolderLock(FolderLock&& other) noexcept = default;
  FolderLock& operator=(FolderLock&& other) noexcept;

  bool held() const noexcept { return held_; }
  int descriptor() const noexcept { return folder_.get(); }  // of the folder; -1: none
  void release() noexcept;

  // Takes the lock unless another one has it; false then. `folder` is open.
  bool take(Descriptor folder, const std::string& path);

 private:
  struct Flag {  // moves as a descriptor does
    bool set = false;
    Flag() = default;
    Flag(Flag&& other) noexcept : set(std::exchange(other.set, false)) {}
    Flag& operator=(bool value) noexcept {
      set = value;
      return *this;
    }
    operator bool() const noexcept { return set; }
  };

  Descriptor folder_;
  Flag held_;
};

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
  static void sweep(const std::string& target, FolderLock& held);

  // `target` is absolute; missing parents are made, and a link at its end is followed. Throws Code::busy
  // while another writer works there, unless `held` is a lock of the caller's on the folder: commit()
  // then puts the lock on the new folder there. Where an exchange is not possible, or not `wanted`,
  // the way is merge.
  explicit FolderReplacement(const std::string& target, FolderLock* held = nullptr,
                             bool exchange_wanted = true);
  ~FolderReplacement();
  FolderReplacement(const FolderReplacement&) = delete;
  FolderReplacement& operator=(const FolderReplacement&) = delete;

  Way way() const noexcept { return way_; }
  const std::string& target() const noexcept { return target_; }  // where it will be
  const std::string& path() const noexcept { return path_; }  // where it is made, empty at first

  // A folder in the new one, its parents before it. It gets the permissions of the old one of this
  // name.
  void make_folder(const std::string& relative);

  // What the new folder shall have from the old one: a file, or a folder with all that is in it. Paths
  // are relative to the folder; folders on the way are made. Files are linked, or copied where the file
  // system does not link. Does nothing when the way is merge: there it stays anyway.
  void keep(const std::string& relative);

  // A file or folder of the old one that the new one has not. Says something only for merge, where it
  // is removed at the end.
  void drop(const std::string& relative) { dropped_.push_back(relative); }

  // The folder takes its place. Throws Code::busy when another one has come there meanwhile, Code::io
  // otherwise; what was there before stays then. `durable`: returns when all of it is on the disk,
  // the name of the folder included.
  void commit(bool durable = false);

 private:
  void make_aside(const std::string& folder, const std::string& name);
  void copy_manner() const;
  void merge(bool durable);

  std::string target_;
  std::string parent_;
  std::string path_;                  // empty: nothing to take away
  NewFolders parents_;                // of a target that had none
  FolderLock own_;                    // on the old folder, unless the caller has it
  FolderLock* held_;                  // on the old folder
  FolderLock staged_;                 // on the new one
  std::vector<std::string> folders_;  // in the new one
  std::vector<std::string> dropped_;
  Way way_ = Way::fresh;
};

// What lies in a folder, without "." and "..", sorted. Links are not followed.
struct Item {
  std::string name;
  Found found;
};
std::vector<Item> list(const std::string& folder);

// Whether a name is that of something unfinished: a folder being made, or a file being written.
bool is_unfinished(std::string_view name) noexcept;

// Removes a file or a folder with all that is in it; follows no link and enters no other file system.
// What cannot be removed stays.
void remove_tree(const std::string& path) noexcept;

// Waits until a file is on the disk, or the names in a folder. Where folders cannot be synced nothing
// is waited for.
void sync(const std::string& path);
void sync(int file, const std::string& path);  // of an open one

// The same of a folder and of all files and folders in it.
void sync_tree(const std::string& path);

}  // namespace td::files
