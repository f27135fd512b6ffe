#include "core/memmap/folder_source.h"

#include "core/formats/format.h"
#include "core/io/beneath.h"
#include "core/tensor/mapped_tensor.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

namespace td {

namespace {

using files::Descriptor;
using files::folder_flags;
using files::Found;

Found kind_of(const struct stat& info) noexcept {
  if (S_ISREG(info.st_mode)) return Found::file;
  if (S_ISDIR(info.st_mode)) return Found::folder;
  return S_ISLNK(info.st_mode) ? Found::link : Found::other;
}

}  // namespace

bool FolderSource::Mark::operator==(const Mark& other) const noexcept {
  return device == other.device && inode == other.inode && bytes == other.bytes &&
         seconds == other.seconds && nanoseconds == other.nanoseconds;
}

FolderSource::Mark FolderSource::mark_of(int folder, const char* name, int flags) noexcept {
  struct stat info {};
  if (::fstatat(folder, name, &info, flags) != 0) return {};
  // A folder's times and size change with its content: ignore them.
  if (S_ISDIR(info.st_mode)) return {info.st_dev, info.st_ino, 0, 0, 0};
  return {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

FolderSource::FolderSource(std::string root, MapMode mode) : root_(std::move(root)), mode_(mode) {
  // The caller may pass a link.
  descriptor_ = Descriptor(::open(root_.c_str(), folder_flags));
  if (!descriptor_.is_open()) {
    if (errno == ENOENT) fail(Code::io, "no such folder: \"", root_, "\"");
    files::fail_io("cannot open", root_, errno);
  }
  folder_mark_ = mark_of(descriptor_.get(), "", AT_EMPTY_PATH);
  meta_mark_ = mark_of(descriptor_.get(), format::meta_file.data(), AT_SYMLINK_NOFOLLOW);
}

FolderSource::Change FolderSource::change() const noexcept {
  if (!(mark_of(AT_FDCWD, root_.c_str(), 0) == folder_mark_)) return Change::folder;
  const Mark meta = mark_of(descriptor_.get(), format::meta_file.data(), AT_SYMLINK_NOFOLLOW);
  return meta == meta_mark_ ? Change::none : Change::meta;
}

bool FolderSource::inner_change() const noexcept {
  const std::size_t begin = root_.size() + (root_.back() == '/' ? 0 : 1);
  return std::any_of(open_.begin(), open_.end(), [&](const Folder& one) {
    const char* name = one.path.c_str() + std::min(begin, one.path.size());
    return !(mark_of(descriptor_.get(), name, AT_SYMLINK_NOFOLLOW) ==
             mark_of(one.descriptor.get(), "", AT_EMPTY_PATH));
  });
}

// An open folder, or -1 if it does not exist. Recently used folders stay open: looking twice must not find
// another folder.
int FolderSource::folder(std::string_view path) const {
  if (path.size() <= root_.size()) return descriptor_.get();
  if (last_ < open_.size() && open_[last_].path == path) return open_[last_].descriptor.get();
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (open_[i].path != path) continue;
    last_ = i;
    return open_[i].descriptor.get();
  }
  const std::size_t begin = root_.size() + (root_.back() == '/' ? 0 : 1);
  std::string name(path);
  Descriptor found = files::open_beneath(descriptor_.get(), name.substr(begin), folder_flags);
  if (!found.is_open()) {
    if (errno == ELOOP) fail(Code::io, "refused: \"", name, "\" is a symbolic link");
    if (errno == ENOENT || errno == ENOTDIR) return -1;
    files::fail_io("cannot open", name, errno);
  }
  if (open_.size() < max_open) {
    last_ = open_.size();
    open_.push_back({std::move(name), std::move(found)});
  } else {
    last_ = oldest_++ % max_open;
    open_[last_] = {std::move(name), std::move(found)};
  }
  return open_[last_].descriptor.get();
}

int FolderSource::folder_of(const std::string& path, const char*& name) const {
  const std::size_t slash = path.rfind('/');
  name = path.c_str() + slash + 1;
  return folder(std::string_view(path).substr(0, slash));
}

files::Look FolderSource::look(const std::string& path) const {
  const char* name = nullptr;
  const int folder = folder_of(path, name);
  struct stat info {};
  if (folder < 0) return {};
  if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    files::fail_io("cannot look at", path, errno);
  }
  return {kind_of(info), static_cast<std::uint64_t>(info.st_size)};
}

Descriptor FolderSource::open_file(const std::string& path) const {
  const char* name = nullptr;
  const int folder = folder_of(path, name);
  if (folder < 0) {
    errno = ENOENT;
    return Descriptor();
  }
  return files::open_beneath(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

std::optional<std::string> FolderSource::read(const std::string& path, std::size_t limit) const {
  Descriptor file = open_file(path);
  if (!file.is_open() && errno == ENOENT) return std::nullopt;
  return files::read(std::move(file), limit, path);
}

std::vector<std::string> FolderSource::folders_in(const std::string& path,
                                                  std::size_t limit) const {
  const int at = folder(path);
  if (at < 0) files::fail_io("cannot list", path, ENOENT);
  Descriptor own(::openat(at, ".", folder_flags));  // with its own read position
  if (!own.is_open()) files::fail_io("cannot list", path, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(own.get()), &::closedir);
  if (!listing) files::fail_io("cannot list", path, errno);
  own.release();
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(listing.get());
    if (entry == nullptr) {
      if (errno != 0) files::fail_io("cannot list", path, errno);
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) continue;
    if (entry->d_type == DT_UNKNOWN) {
      struct stat info {};
      if (::fstatat(at, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (!S_ISDIR(info.st_mode)) continue;
    }
    if (names.size() == limit) {
      fail(Code::format, "\"", path, "\" holds more than ", limit, " folders");
    }
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

at::Tensor FolderSource::leaf(const std::string& path, SizesView sizes,
                              c10::ScalarType dtype) const {
  const char* name = nullptr;
  const int folder = folder_of(path, name);
  if (folder < 0) return {};
  const auto bytes = static_cast<std::size_t>(*checked_bytes(sizes, c10::elementSize(dtype)));
  std::shared_ptr<MappedFile> file = MappedFile::open_in(folder, name, path, bytes, mode_);
  return file ? mapped_tensor(std::move(file), 0, sizes, dtype) : at::Tensor();
}

}  // namespace td
