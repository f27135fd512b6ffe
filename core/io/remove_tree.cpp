// Removes a folder tree without heap memory: it must work when memory is exhausted.
#include "core/io/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstring>

#if defined(__linux__)
#include <sys/syscall.h>
#else
#include <filesystem>
#endif

namespace td::files {

#if defined(__linux__)

namespace {

constexpr std::size_t deepest = 2100;  // more levels than a path can have

// The kernel's directory entry, which libc declares only with _GNU_SOURCE.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};

struct Swept {
  bool failed = false;
  bool inner = false;  // `name` is a folder that is not empty
  std::size_t removed = 0;
  std::array<char, 256> name{};
};

// Removes files and empty folders, up to the first folder that is not empty.
void sweep(int folder, Swept& swept) noexcept {
  alignas(Entry) std::array<char, 8192> buffer;
  swept.inner = false;
  swept.removed = 0;
  std::size_t before = 0;
  if (::lseek(folder, 0, SEEK_SET) < 0) swept.failed = true;
  while (!swept.failed) {
    const auto n = ::syscall(SYS_getdents64, folder, buffer.data(), buffer.size());
    swept.failed = n < 0;
    if (n == 0 && swept.removed != before) {  // removing may make readdir skip names
      before = swept.removed;
      swept.failed = ::lseek(folder, 0, SEEK_SET) < 0;
      continue;
    }
    if (n <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(n);) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer.data() + at);
      at += entry->bytes;
      const char* name = entry->name;
      if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
      int error = EISDIR;
      if (entry->type != DT_DIR) error = ::unlinkat(folder, name, 0) == 0 ? 0 : errno;
      if (error == EISDIR || error == EPERM) {
        error = ::unlinkat(folder, name, AT_REMOVEDIR) == 0 ? 0 : errno;
      }
      if (error == 0 || error == ENOENT) {
        ++swept.removed;
        continue;
      }
      swept.inner = error == ENOTEMPTY || error == EEXIST;
      swept.failed = !swept.inner || std::strlen(name) >= swept.name.size();
      if (!swept.failed) std::memcpy(swept.name.data(), name, std::strlen(name) + 1);
      return;
    }
  }
}

}  // namespace

void empty_folder(int folder) noexcept {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
  Descriptor at(::openat(folder, ".", flags));
  struct stat info {};
  if (!at.is_open() || ::fstat(at.get(), &info) != 0) return;
  const dev_t device = info.st_dev;
  std::array<ino_t, deepest> above;  // inodes of the parents, to check where ".." leads
  std::size_t depth = 0;
  bool back = false;
  Swept swept;
  for (;;) {
    sweep(at.get(), swept);
    // Give up on a folder that is still not empty after its content was removed.
    if (swept.failed || (back && swept.removed == 0)) return;
    back = !swept.inner;
    if (back && depth == 0) return;
    if (!back && depth == above.size()) return;
    if (::fstat(at.get(), &info) != 0) return;
    if (!back) above[depth++] = info.st_ino;
    Descriptor next(::openat(at.get(), back ? ".." : swept.name.data(), flags));
    if (!next.is_open() || ::fstat(next.get(), &info) != 0 || info.st_dev != device) return;
    if (back && info.st_ino != above[--depth]) return;
    at = std::move(next);
  }
}

void remove_tree(const std::string& path) noexcept {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return;
  const Descriptor at(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!at.is_open()) return;
  empty_folder(at.get());
  ::rmdir(path.c_str());
}

#else

void remove_tree(const std::string& path) noexcept {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

#endif

}  // namespace td::files
