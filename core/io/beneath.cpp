#include "core/io/beneath.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>

#if defined(__linux__)
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif

namespace td::files {

const int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

namespace {

// Opens name by name, for kernels without openat2().
int open_stepwise(int root, const std::string& relative, int flags, unsigned mode) noexcept {
  Descriptor at;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(relative.find('/', begin), relative.size());
    const bool last = end == relative.size();
    std::string name;
    try {
      name = relative.substr(begin, end - begin);
    } catch (...) {
      errno = ENOMEM;
      return -1;
    }
    const int number = ::openat(at.is_open() ? at.get() : root, name.c_str(),
                                (last ? flags : folder_flags) | O_NOFOLLOW, mode);
    if (number < 0 || last) return number;
    at = Descriptor(number);
    begin = end + 1;
  }
}

}  // namespace

Descriptor open_beneath(int folder, const std::string& relative, int flags,
                        unsigned mode) noexcept {
  if (relative.empty()) return Descriptor(::openat(folder, ".", flags, mode));
  if (relative.find('/') == std::string::npos) {
    const int number = ::openat(folder, relative.c_str(), flags | O_NOFOLLOW, mode);
    struct stat info {};
    if (number < 0 && errno == ENOTDIR &&
        ::fstatat(folder, relative.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      errno = S_ISLNK(info.st_mode) ? ELOOP : ENOTDIR;
    }
    return Descriptor(number);
  }
#ifdef SYS_openat2
  static std::atomic<bool> known{true};
  if (known.load(std::memory_order_relaxed)) {
    struct open_how how {};
    how.flags = static_cast<unsigned>(flags | O_NOFOLLOW);
    how.mode = (flags & O_CREAT) != 0 ? mode : 0;
    how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
    for (;;) {
      const long number = ::syscall(SYS_openat2, folder, relative.c_str(), &how, sizeof how);
      if (number >= 0) return Descriptor(static_cast<int>(number));
      if (errno == EAGAIN) continue;  // a concurrent rename
      if (errno != ENOSYS && errno != EPERM) return Descriptor();
      break;
    }
    known = false;  // an old kernel, or a sandbox that forbids the call
  }
#endif
  return Descriptor(open_stepwise(folder, relative, flags, mode));
}

Look look_beneath(int folder, const std::string& relative, const std::string& path) {
  Descriptor inner;
  const std::string_view parent = folder_part(relative);
  if (!parent.empty()) {
    inner = open_beneath(folder, std::string(parent), folder_flags);
    if (!inner.is_open()) {
      if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};
      fail_io("cannot look at", path, errno);
    }
  }
  struct stat info {};
  const char* name = relative.empty() ? "." : name_part(relative);
  if (::fstatat(inner.is_open() ? inner.get() : folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    fail_io("cannot look at", path, errno);
  }
  return look_of(info);
}

std::string read_beneath(int folder, const std::string& relative, std::size_t limit,
                         const std::string& path) {
  return read(open_beneath(folder, relative, O_RDONLY | O_CLOEXEC | O_NONBLOCK), limit, path);
}

std::string_view folder_part(std::string_view relative) noexcept {
  const std::size_t slash = relative.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : relative.substr(0, slash);
}

const char* name_part(const std::string& relative) noexcept {
  const std::size_t slash = relative.rfind('/');
  return relative.c_str() + (slash == std::string::npos ? 0 : slash + 1);
}

int rename_as(int from_folder, const char* from, int to_folder, const char* to,
              Rename how) noexcept {
  if (how == Rename::plain) return ::renameat(from_folder, from, to_folder, to) == 0 ? 0 : errno;
#if defined(__linux__) && defined(RENAME_EXCHANGE)
  const unsigned flags = how == Rename::exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 28)
  const auto result = ::renameat2(from_folder, from, to_folder, to, flags);
#else
  const auto result = ::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
#endif
  if (result == 0) return 0;
  return errno == ENOSYS || errno == ENOTSUP ? EINVAL : errno;
#else
  return EINVAL;
#endif
}

}  // namespace td::files
