#include "core/io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <utility>

namespace td::files {

bool is_one_file(const struct stat& a, const struct stat& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

[[noreturn]] void fail_busy(const std::string& path) {
  fail(Code::busy, "another writer (a save or an append) is at work in \"", path, "\"");
}

FolderLock::FolderLock(const std::string& path) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    Descriptor folder(::open(path.c_str(), folder_flags));
    if (!folder.is_open()) fail_io("cannot open the folder", path, errno);
    if (!take(std::move(folder), path)) fail_busy(path);
    // The locked folder may have been replaced since it was opened.
    struct stat locked {};
    struct stat now {};
    if (::fstat(folder_.get(), &locked) != 0 || ::stat(path.c_str(), &now) != 0) {
      fail_io("cannot look at", path, errno);
    }
    if (is_one_file(locked, now)) return;
    release();
  }
  fail_busy(path);
}

bool FolderLock::take(Descriptor folder, const std::string& path) {
  while (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return false;
    // Network file systems do not lock folders; some file systems lock nothing.
    if (errno != ENOTSUP && errno != ENOSYS && errno != EINVAL && errno != EBADF &&
        errno != ENOLCK) {
      fail_io("cannot lock", path, errno);
    }
    close_in_children(folder.get());
    folder_ = std::move(folder);
    origin_ = Origin();
    return true;
  }
  close_in_children(folder.get());
  folder_ = std::move(folder);
  origin_ = Origin();
  held_ = true;
  return true;
}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  if (this == &other) return *this;
  release();
  origin_ = other.origin_;
  folder_ = std::move(other.folder_);
  held_ = std::exchange(other.held_.set, false);
  return *this;
}

// Unlock explicitly: a process made without fork() may share the descriptor. In a child the descriptor is
// closed, and its number may belong to another file.
void FolderLock::release() noexcept {
  if (!folder_.is_open()) return;
  if (!origin_.is_here()) {
    folder_.release();
    held_ = false;
    return;
  }
  if (held_) ::flock(folder_.get(), LOCK_UN);
  held_ = false;
  forget_in_children(folder_.get());
  folder_.reset();
}

bool FolderLock::has_name(const std::string& path) const noexcept {
  struct stat locked {};
  struct stat now {};
  return ::fstat(folder_.get(), &locked) == 0 && ::stat(path.c_str(), &now) == 0 &&
         is_one_file(locked, now);
}

void FolderLock::require_name(const std::string& path) const {
  if (has_name(path)) return;
  fail(Code::io, "\"", path,
       "\" is no longer the folder that was opened: it was moved, removed or replaced");
}

}  // namespace td::files
