#include "core/io/folder_support.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <utility>

namespace td::files {

namespace {

bool is_one_file(const struct stat& a, const struct stat& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Whether a path names the folder that a lock is on.
bool still_names(const std::string& path, const FolderLock& lock) noexcept {
  struct stat locked {};
  struct stat now {};
  return ::fstat(lock.descriptor(), &locked) == 0 && ::lstat(path.c_str(), &now) == 0 &&
         is_one_file(locked, now);
}

}  // namespace

[[noreturn]] void fail_busy(const std::string& path) {
  fail(Code::busy, "another writer (a save or an append) is at work in \"", path, "\"");
}

FolderLock::FolderLock(const std::string& path) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open()) fail_io("cannot open the folder", path, errno);
    if (!take(std::move(folder), path)) fail_busy(path);
    // The one that has been locked may have been replaced since it was opened.
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
    // Network file systems lock no folders, others nothing.
    if (errno != ENOTSUP && errno != ENOSYS && errno != EINVAL && errno != EBADF &&
        errno != ENOLCK) {
      fail_io("cannot lock", path, errno);
    }
    folder_ = std::move(folder);
    return true;
  }
  folder_ = std::move(folder);
  held_ = true;
  return true;
}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  if (this == &other) return *this;
  release();
  folder_ = std::move(other.folder_);
  held_ = std::exchange(other.held_.set, false);
  return *this;
}

// Unlocked by name: a child process may have the descriptor, too.
void FolderLock::release() noexcept {
  if (held_) ::flock(folder_.get(), LOCK_UN);
  held_ = false;
  folder_.reset();
}

Claim claim(const std::string& path, const std::string& target, bool shared_name,
            FolderLock& lock) {
  const auto open_folder = [&] {
    return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  };
  if (::mkdir(path.c_str(), 0777) != 0) {
    if (errno != EEXIST) fail_io("cannot make the folder", path, errno);
    Descriptor old = open_folder();
    if (!old.is_open()) return errno == ENOENT ? Claim::again : Claim::taken;
    FolderLock left;
    if (!left.take(std::move(old), path)) fail_busy(target);
    if (!left.held()) return Claim::taken;
    // Its writer may have finished since it was opened: it is a folder in use then, and the name another's.
    if (!still_names(path, left)) return Claim::again;
    remove_tree(path);
    return look(path).found == Found::nothing ? Claim::again : Claim::taken;
  }
  Descriptor made = open_folder();
  if (!made.is_open()) {
    const int error = errno;
    if (error == ENOENT) return Claim::again;  // taken for one that was left
    ::rmdir(path.c_str());
    fail_io("cannot open the folder", path, error);
  }
  // Another writer may take it for one that was left, until it is locked.
  try {
    if (!lock.take(std::move(made), path)) return Claim::again;
  } catch (...) {
    ::rmdir(path.c_str());
    throw;
  }
  if (!lock.held()) {
    if (!shared_name) return Claim::made;
    ::rmdir(path.c_str());
    return Claim::taken;
  }
  if (still_names(path, lock)) return Claim::made;
  lock.release();
  return Claim::again;
}

}  // namespace td::files
