// core/io/folder_lock.h: the lock of a folder's writer.
#pragma once

#include "core/io/beneath.h"

#include <string>
#include <utility>

namespace td::files {

// Advisory; excludes processes and threads, and ends with the process. Child processes do not inherit it. On
// file systems without locks it does nothing.
class FolderLock {
 public:
  FolderLock() noexcept = default;
  // Follows a link. Throws Code::busy if the lock is held, Code::io if there is no such folder.
  explicit FolderLock(const std::string& path);
  ~FolderLock() { release(); }
  FolderLock(FolderLock&& other) noexcept = default;
  FolderLock& operator=(FolderLock&& other) noexcept;

  bool held() const noexcept { return held_; }
  int descriptor() const noexcept { return folder_.get(); }  // of the folder; -1: not held
  void release() noexcept;

  // Locks an open folder; false if the lock is held elsewhere.
  bool take(Descriptor folder, const std::string& path);

  // Whether the path still leads to this folder; follows a link.
  bool has_name(const std::string& path) const noexcept;
  // Throws Code::io unless has_name().
  void require_name(const std::string& path) const;

 private:
  struct Flag {  // moves like a descriptor
    bool set = false;
    Flag() = default;
    Flag(Flag&& other) noexcept : set(std::exchange(other.set, false)) {}
    Flag& operator=(bool value) noexcept {
      set = value;
      return *this;
    }
    operator bool() const noexcept { return set; }
  };

  Origin origin_;
  Descriptor folder_;
  Flag held_;
};

[[noreturn]] void fail_busy(const std::string& path);

bool is_one_file(const struct stat& a, const struct stat& b) noexcept;

}  // namespace td::files
