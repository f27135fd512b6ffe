// core/io/folder_lock.h: says that a writer works on a folder.
#pragma once

#include "core/io/beneath.h"

#include <string>
#include <utility>

namespace td::files {

// The lock is advisory, goes with the process, and counts between threads of one process, too. A child
// process does not have it. On file systems without locks nothing is held.
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

  // Whether the folder still has this name; a link is followed.
  bool has_name(const std::string& path) const noexcept;
  // Throws Code::io when it has not.
  void require_name(const std::string& path) const;

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

  Origin origin_;
  Descriptor folder_;
  Flag held_;
};

[[noreturn]] void fail_busy(const std::string& path);

bool is_one_file(const struct stat& a, const struct stat& b) noexcept;

}  // namespace td::files
