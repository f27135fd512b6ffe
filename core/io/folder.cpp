#include "core/io/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

namespace td::files {

namespace {

// Whether the folder is a mount point. Device numbers are not enough: two mounts may share a device.
bool is_mount(int folder) noexcept {
#if defined(STATX_ATTR_MOUNT_ROOT)
  struct statx info {};
  return ::statx(folder, "", AT_EMPTY_PATH, 0, &info) == 0 &&
         (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  (void)folder;
  return false;
#endif
}

// Whether this process can list all folders below, and no mount is among them. Follows no link, even if a
// folder is replaced by one meanwhile.
bool holds_no_mount(int root, const std::string& path) {
  std::vector<std::string> folders{std::string()};
  while (!folders.empty()) {
    const std::string at = std::move(folders.back());
    folders.pop_back();
    Descriptor inner;
    if (!at.empty()) {
      inner = open_beneath(root, at, folder_flags);
      if (!inner.is_open()) {
        if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) continue;  // no longer a folder
        return false;
      }
    }
    const int folder = at.empty() ? root : inner.get();
    if (is_mount(folder)) return false;
    try {
      for (const Item& item : list(folder, path)) {
        if (item.found == Found::folder) folders.push_back(below(at, item.name));
      }
    } catch (const Error& error) {
      if (error.code() != Code::io) throw;
      return false;  // not accessible to this process
    }
  }
  return true;
}

// The folder's path with a real last name: not "..", a link or the root.
std::string real_folder(const std::string& path) {
  struct stat info {};
  const std::size_t last = path.rfind('/');
  if (path.compare(last, std::string::npos, "/..") != 0 &&
      (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode))) {
    return path;
  }
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) fail_io("cannot find", path, errno);
  return real.get();
}

// Whether the process works in the folder, or below it: it would end up in a removed one.
bool is_above_current(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
  if (!here) return false;
  const std::string inner = std::string(here.get()) + '/';
  // The last name is real, so it is a part of the current folder's path then.
  if (inner.find(path.substr(path.rfind('/')) + '/') == std::string::npos) return false;
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) fail_io("cannot find", path, errno);
  const std::string outer = std::string(real.get()) + '/';
  return inner.compare(0, outer.size(), outer) == 0;
}

void copy_file(int from_folder, int to_folder, const std::string& name, const std::string& path) {
  const Descriptor source = open_beneath(from_folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!source.is_open()) fail_io("cannot open", path, errno);
  struct stat info {};
  if (::fstat(source.get(), &info) != 0) fail_io("cannot look at", path, errno);
  if (!S_ISREG(info.st_mode)) {
    fail(Code::io, "cannot keep \"", path, "\": it is not a regular file");
  }
  const Descriptor target =
      open_beneath(to_folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (!target.is_open()) fail_io("cannot write", path, errno);
  copy_all(source.get(), target.get(), path);
  keep_manner(target.get(), look_of(info), path);
}

void link_file(int from_folder, int to_folder, const std::string& name, const std::string& path) {
  if (::linkat(from_folder, name.c_str(), to_folder, name.c_str(), 0) == 0) return;
  // Copying does not help with other errors: EXDEV means a mount point.
  if (errno != EPERM && errno != EMLINK && errno != ENOTSUP && errno != ENOSYS) {
    fail_io("cannot keep", path, errno);
  }
  copy_file(from_folder, to_folder, name, path);
}

Descriptor open_parent(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

bool FolderReplacement::can_replace() const {
  if (target_ == "/" || target_ == "//") return false;
  struct stat folder {};
  if (::fstat(held_->descriptor(), &folder) != 0) fail_io("cannot look at", target_, errno);
  struct stat above {};
  if (::stat(parent_.c_str(), &above) != 0) fail_io("cannot look at", parent_, errno);
  if (above.st_dev != folder.st_dev || ::access(parent_.c_str(), W_OK | X_OK) != 0) return false;
  if (user_ != 0 && folder.st_uid != user_) return false;
  return !is_above_current(target_) && holds_no_mount(held_->descriptor(), target_);
}

void FolderReplacement::sweep(const std::string& target, const FolderLock& held) {
  remove_left_aside(held.descriptor(), name_aside({}));
  const std::string path = real_folder(target);
  const std::string name = name_aside(path.substr(path.rfind('/') + 1));
  if (look(join(parent_of(path), name)).found != Found::folder) return;
  const Descriptor parent = open_parent(parent_of(path));
  if (parent.is_open()) remove_left_aside(parent.get(), name);
}

FolderReplacement::FolderReplacement(const std::string& target, FolderLock* held,
                                     bool exchange_wanted)
    : target_(real_folder(target)), held_(held == nullptr ? &own_ : held) {
  parent_ = parent_of(target_);
  name_ = target_.substr(target_.rfind('/') + 1);
  if (held_->descriptor() < 0 && look(join(target_, ".")).found == Found::nothing) {
    parents_.make_with_parents(parent_);
  } else {
    user_ = ::geteuid();
    group_ = ::getegid();
    if (held == nullptr) own_ = FolderLock(target_);
    if (held_->descriptor() < 0) fail_busy(target_);  // another process has just created it
    held_->require_name(target_);
    if (::access(target_.c_str(), W_OK | X_OK) != 0) fail_io("cannot write to", target_, errno);
    way_ = exchange_wanted && can_replace() ? Way::exchange : Way::merge;
  }
  if (way_ == Way::merge) {
    aside_.emplace(open_beneath(held_->descriptor(), {}, O_PATH | O_DIRECTORY | O_CLOEXEC), target_,
                   std::string(), Aside::Kind::folder, target_);
  } else {
    aside_.emplace(open_parent(parent_), parent_, name_, Aside::Kind::folder, target_);
  }
  if (way_ == Way::fresh) return;
  struct stat made {};
  if (::fstat(aside_->content(), &made) != 0) fail_io("cannot look at", target_, errno);
  cut_modes_ = ~made.st_mode & 0777U;
}

FolderReplacement::~FolderReplacement() = default;

const FolderReplacement::Pair& FolderReplacement::pair(const std::string& folder) {
  if (pair_.to.is_open() && pair_.folder == folder) return pair_;
  Pair next{folder, Descriptor(), open_beneath(aside_->content(), folder, folder_flags)};
  if (!next.to.is_open()) fail_io("cannot open the folder", join(path(), folder), errno);
  if (way_ != Way::fresh) {
    next.from = open_beneath(held_->descriptor(), folder, folder_flags);
  }
  pair_.folder = std::move(next.folder);
  pair_.from = std::move(next.from);
  pair_.to = std::move(next.to);
  return pair_;
}

void FolderReplacement::make_folder(const std::string& relative) {
  const auto make = [this](const std::string& part) {
    const std::string above(folder_part(part));
    const int folder = above.empty() ? aside_->content() : pair(above).to.get();
    if (::mkdirat(folder, name_part(part), 0777) == 0) {
      folders_.push_back(part);
    } else if (errno != EEXIST) {
      fail_io("cannot make the folder", join(path(), part), errno);
    }
  };
  const Descriptor above =
      open_beneath(aside_->content(), std::string(folder_part(relative)), folder_flags);
  if (above.is_open()) return make(relative);
  for (std::size_t end = relative.find('/');; end = relative.find('/', end + 1)) {
    make(relative.substr(0, end));
    if (end == std::string::npos) return;
  }
}

Descriptor FolderReplacement::create(const std::string& relative, const Look& old) const {
  const bool there = old.found == Found::file;
  Descriptor file = open_beneath(aside_->content(), relative, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                                 there ? old.mode & 0777U : 0666U);
  if (!file.is_open()) fail_io("cannot write", join(target_, relative), errno);
  if (there && ((old.mode & cut_modes_) != 0 || old.owner != user_ || old.group != group_)) {
    keep_manner(file.get(), old, join(target_, relative));
  }
  return file;
}

void FolderReplacement::write(const std::string& relative, std::string_view content) const {
  const std::string path = join(target_, relative);
  const Look old =
      held_->descriptor() >= 0 ? look_beneath(held_->descriptor(), relative, path) : Look();
  write_all(create(relative, old).get(), content.data(), content.size(), path);
}

void FolderReplacement::keep_file(const Pair& at, const std::string& name) const {
  const std::string path = join(target_, below(at.folder, name));
  link_file(at.from.get(), at.to.get(), name, path);
}

void FolderReplacement::keep(const std::string& relative) {
  if (way_ == Way::merge) return;
  const std::string above(folder_part(relative));
  if (!above.empty()) make_folder(above);
  const std::string name = name_part(relative);
  const Pair& at = pair(above);
  const std::string path = join(target_, relative);
  if (!at.from.is_open()) fail_io("cannot keep", path, ENOENT);
  if (look_beneath(at.from.get(), name, path).found != Found::folder) return keep_file(at, name);
  std::vector<std::string> folders{relative};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    make_folder(folder);
    const Pair& inner = pair(folder);
    if (!inner.from.is_open()) fail_io("cannot keep", join(target_, folder), ENOENT);
    for (const Item& item : list(inner.from.get(), join(target_, folder))) {
      if (is_unfinished(inner.from.get(), item)) continue;
      if (item.found == Found::folder) {
        folders.push_back(join(folder, item.name));
      } else {
        keep_file(inner, item.name);
      }
    }
  }
}

// Copies permissions and owners of the old folders.
void FolderReplacement::copy_manner() const {
  for (std::size_t i = 0; i <= folders_.size(); ++i) {
    const std::string relative = i == 0 ? std::string() : folders_[i - 1];
    Descriptor from_inner, to_inner;
    int from = held_->descriptor();
    int to = aside_->content();
    if (i != 0) {
      from_inner = open_beneath(from, relative, folder_flags);
      to_inner = open_beneath(to, relative, folder_flags);
      from = from_inner.get();
      to = to_inner.get();
    }
    struct stat old {};
    struct stat made {};
    if (from < 0 || ::fstat(from, &old) != 0) continue;
    const std::string path = join(target_, relative);
    if (to < 0 || ::fstat(to, &made) != 0) fail_io("cannot look at", path, errno);
    if (old.st_uid != made.st_uid || old.st_gid != made.st_gid) {
      // Without the right to change the owner, the folder belongs to this process.
      if (::fchown(to, old.st_uid, old.st_gid) != 0) errno = 0;
    }
    if (old.st_mode != made.st_mode && ::fchmod(to, old.st_mode & 07777) != 0) {
      fail_io("cannot give permissions to", path, errno);
    }
  }
}

void FolderReplacement::commit(bool durable) {
  if (!aside_) fail(Code::internal, "\"", target_, "\" has been replaced already");
  if (durable) {
    sync_tree(aside_->content(), path());
    parents_.sync();
  }
  if (way_ == Way::exchange) copy_manner();
  if (way_ == Way::merge || !exchange(durable)) {
    way_ = Way::merge;
    merge(durable);
  }
  finish(/*replaced=*/way_ == Way::exchange);
}

// Returns false if this is not possible.
bool FolderReplacement::exchange(bool durable) {
  Rename how = way_ == Way::fresh ? Rename::no_replace : Rename::exchange;
  int error = aside_->rename_to(name_, how);
  if (error == EINVAL && way_ == Way::fresh) error = aside_->rename_to(name_, how = Rename::plain);
  if (error == EEXIST || error == ENOTEMPTY) fail_busy(target_);
  if (way_ != Way::fresh && (error == EINVAL || error == EBUSY || error == EPERM)) return false;
  if (error != 0) fail_io("cannot replace", target_, error);
  try {
    // The folder may have been replaced since it was locked.
    if (how == Rename::exchange && !aside_->holds(held_->descriptor())) fail_busy(target_);
    if (durable) sync_folder(aside_->parent(), parent_);
  } catch (...) {
    in_place_ = (how == Rename::exchange ? aside_->rename_to(name_, how)
                                         : aside_->take_back(name_, Rename::plain)) != 0;
    if (in_place_) finish(/*replaced=*/false);
    throw;
  }
  return true;
}

// Removes the old folder. Its lock ends with its last name. `replaced`: it is the locked one.
void FolderReplacement::finish(bool replaced) {
  parents_.keep();
  FolderLock old;
  if (way_ != Way::merge) {
    old = std::move(*held_);
    *held_ = std::move(aside_->lock());
  }
  if (replaced) empty_folder(old.descriptor());
  aside_.reset();
}

}  // namespace td::files
