#include "core/memmap/folder_source.h"

#include "core/formats/format.h"
#include "core/tensor/mapped_tensor.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

namespace td {

using files::Descriptor;
using files::folder_flags;

class FolderSource::Folder final : public MemmapFolder {
 public:
  Folder(const FolderSource& source, std::string root, OpenPtr open)
      : MemmapFolder(std::move(root)), source_(source), open_(std::move(open)) {}
  Folder(const Folder& above, const std::string& name)
      : MemmapFolder(above, name), source_(above.source_) {}

  FolderPtr inside(const std::string& name) const override;
  files::Look look(const std::string& name) const override;
  std::optional<std::string> read(const std::string& name, std::size_t limit) const override;
  std::vector<std::string> folders(std::size_t limit) const override;
  at::Tensor leaf(const std::string& name, SizesView sizes, c10::ScalarType dtype) const override;
  bool changed() const override {
    return source_.change() != Change::none || source_.inner_change();
  }
  std::string saved_path() const override { return path(); }

 private:
  friend class FolderSource;
  const FolderSource& source_;
  mutable std::weak_ptr<const Open> open_;
};

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

FolderSource::FolderSource(const std::string& root, MapMode mode) : mode_(mode) {
  // The caller may pass a link.
  Descriptor found(::open(root.c_str(), folder_flags));
  if (!found.is_open()) {
    if (errno == ENOENT) fail(Code::io, "no such folder: \"", root, "\"");
    files::fail_io("cannot open", root, errno);
  }
  open_root_ = std::make_shared<Open>(Open{{}, std::move(found)});
  root_ = std::make_shared<Folder>(*this, root, open_root_);
  folder_mark_ = mark_of(descriptor(), "", AT_EMPTY_PATH);
  meta_mark_ = mark_of(descriptor(), format::meta_file.data(), AT_SYMLINK_NOFOLLOW);
}

FolderSource::Change FolderSource::change() const noexcept {
  if (!(mark_of(AT_FDCWD, root_->path().c_str(), 0) == folder_mark_)) return Change::folder;
  const Mark meta = mark_of(descriptor(), format::meta_file.data(), AT_SYMLINK_NOFOLLOW);
  return meta == meta_mark_ ? Change::none : Change::meta;
}

bool FolderSource::inner_change() const noexcept {
  const std::lock_guard<std::mutex> hold(mutex_);
  return std::any_of(open_.begin(), open_.end(), [&](const OpenPtr& one) {
    return !(mark_of(descriptor(), one->relative.c_str(), AT_SYMLINK_NOFOLLOW) ==
             mark_of(one->descriptor.get(), "", AT_EMPTY_PATH));
  });
}

// An open folder; nullptr if it does not exist. Recently used folders stay open: looking twice must not find
// another folder.
FolderSource::OpenPtr FolderSource::open(const Folder& folder) const {
  const std::lock_guard<std::mutex> hold(mutex_);
  if (OpenPtr open = folder.open_.lock()) return open;
  std::string relative = folder.relative();
  Descriptor found = files::open_beneath(descriptor(), relative, folder_flags);
  if (!found.is_open()) {
    if (errno == ELOOP) fail(Code::io, "refused: \"", folder.path(), "\" is a symbolic link");
    if (errno == ENOENT || errno == ENOTDIR) return nullptr;
    files::fail_io("cannot open", folder.path(), errno);
  }
  OpenPtr open = std::make_shared<Open>(Open{std::move(relative), std::move(found)});
  folder.open_ = open;
  if (open_.size() < max_open) {
    open_.push_back(open);
  } else {
    open_[oldest_++ % max_open] = open;
  }
  return open;
}

FolderPtr FolderSource::Folder::inside(const std::string& name) const {
  auto folder = std::make_shared<Folder>(*this, name);
  return source_.open(*folder) ? folder : nullptr;
}

files::Look FolderSource::Folder::look(const std::string& name) const {
  const OpenPtr open = source_.open(*this);
  return open ? files::look_beneath(open->descriptor.get(), name, path_of(name)) : files::Look();
}

std::optional<std::string> FolderSource::Folder::read(const std::string& name,
                                                      std::size_t limit) const {
  const OpenPtr open = source_.open(*this);
  if (!open) return std::nullopt;
  Descriptor file =
      files::open_beneath(open->descriptor.get(), name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!file.is_open() && errno == ENOENT) return std::nullopt;
  return files::read(std::move(file), limit, path_of(name));
}

std::vector<std::string> FolderSource::Folder::folders(std::size_t limit) const {
  const OpenPtr open = source_.open(*this);
  if (!open) files::fail_io("cannot list", path(), ENOENT);
  std::vector<std::string> names;
  for (files::Item& item : files::list(open->descriptor.get(), path())) {
    if (item.found != files::Found::folder) continue;
    if (names.size() == limit) {
      fail(Code::format, "\"", path(), "\" holds more than ", limit, " folders");
    }
    names.push_back(std::move(item.name));
  }
  return names;
}

at::Tensor FolderSource::Folder::leaf(const std::string& name, SizesView sizes,
                                      c10::ScalarType dtype) const {
  const OpenPtr open = source_.open(*this);
  if (!open) return {};
  const auto bytes = static_cast<std::size_t>(*checked_bytes(sizes, c10::elementSize(dtype)));
  std::shared_ptr<MappedFile> file = MappedFile::open_in(open->descriptor.get(), name.c_str(),
                                                         path_of(name), bytes, source_.mode_);
  return file ? mapped_tensor(std::move(file), 0, sizes, dtype) : at::Tensor();
}

}  // namespace td
