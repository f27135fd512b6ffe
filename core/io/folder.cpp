#include "core/io/folder_support.h"

#include <xxhash.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#if defined(__linux__)
#include <linux/fs.h>
#include <sys/syscall.h>
#endif

namespace td::files {

namespace {

constexpr std::size_t longest_name = 200;  // of a target in the name of what is made for it

enum class Rename { plain, no_replace, exchange };

// 0, or errno; EINVAL where the system or the file system has no such thing.
int rename_as(const std::string& from, const std::string& to, Rename how) noexcept {
  if (how == Rename::plain) return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
#if defined(__linux__) && defined(RENAME_EXCHANGE)
  const unsigned flags = how == Rename::exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 28)
  const auto result = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags);
#else
  const auto result = ::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags);
#endif
  if (result == 0) return 0;
  return errno == ENOSYS || errno == ENOTSUP ? EINVAL : errno;
#else
  return EINVAL;
#endif
}

// Something is mounted here. Two mounts of one file system have the same device.
bool is_mount(const std::string& path) noexcept {
#if defined(STATX_ATTR_MOUNT_ROOT)
  struct statx info {};
  return ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, 0, &info) == 0 &&
         (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  (void)path;
  return false;
#endif
}

// A folder whose last name is its own: not "..", not a link, not the root.
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

std::string parent_of(const std::string& path) {
  const std::size_t last = path.rfind('/');
  return last == 0 ? "/" : path.substr(0, last);
}

// Where a folder is made that will be `target`. One name for each target, so that what a killed writer
// has left is found without looking through the parent.
std::string name_aside(const std::string& target) {
  std::string name = target.substr(target.rfind('/') + 1);
  if (name.size() > longest_name) {
    const auto hash = static_cast<unsigned long long>(XXH3_64bits(name.data(), name.size()));
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", hash);
    std::size_t end = longest_name;
    while ((static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) --end;  // whole letters
    name = name.substr(0, end) + text;
  }
  return "." + name + std::string(unfinished) + "save";
}

void copy_file(const std::string& from, const std::string& to) {
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!source.is_open()) fail_io("cannot open", from, errno);
  struct stat info {};
  if (::fstat(source.get(), &info) != 0) fail_io("cannot look at", from, errno);
  if (!S_ISREG(info.st_mode))
    fail(Code::io, "cannot keep \"", from, "\": it is not a regular file");
  const Descriptor target(
      ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!target.is_open()) fail_io("cannot write", to, errno);
  std::vector<char> buffer(std::size_t{1} << 18);
  for (;;) {
    const ssize_t n = ::read(source.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_io("cannot read", from, errno);
    if (n == 0) break;
    write_all(target.get(), buffer.data(), static_cast<std::size_t>(n), to);
  }
  if (::fchmod(target.get(), info.st_mode & 07777) != 0) fail_io("cannot write", to, errno);
}

void link_file(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return;
  // Others would not come right by copying: EXDEV means that something is mounted there.
  if (errno != EPERM && errno != EMLINK && errno != ENOTSUP && errno != ENOSYS) {
    fail_io("cannot keep", from, errno);
  }
  copy_file(from, to);
}

}  // namespace

bool FolderReplacement::can_replace(const std::string& target) {
  const std::string path = real_folder(target);
  if (path == "/" || path == "//") return false;
  struct stat folder {};
  if (::lstat(path.c_str(), &folder) != 0) {
    if (errno == ENOENT) return true;
    fail_io("cannot look at", path, errno);
  }
  const std::string parent = parent_of(path);
  struct stat above {};
  if (::stat(parent.c_str(), &above) != 0) fail_io("cannot look at", parent, errno);
  if (above.st_dev != folder.st_dev || ::access(parent.c_str(), W_OK | X_OK) != 0) return false;
  const uid_t me = ::geteuid();
  if (me != 0 && folder.st_uid != me) return false;
  // Whoever works in the folder, or below it, must not find itself in one that has gone.
  const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) fail_io("cannot find", path, errno);
  if (here) {
    const std::string_view inner(here.get());
    const std::string_view outer(real.get());
    if (inner.substr(0, outer.size()) == outer &&
        (inner.size() == outer.size() || inner[outer.size()] == '/')) {
      return false;
    }
  }
  std::vector<std::string> folders{path};
  while (!folders.empty()) {
    const std::string at = std::move(folders.back());
    folders.pop_back();
    if (is_mount(at)) return false;
    try {
      for (const Item& item : list(at)) {
        if (item.found == Found::folder) folders.push_back(join(at, item.name));
      }
    } catch (const Error& error) {
      if (error.code() != Code::io) throw;
      return false;  // somebody else's, closed to this process
    }
  }
  return true;
}

void FolderReplacement::sweep(const std::string& target, FolderLock& held) {
  const std::string path = real_folder(target);
  for (const bool exchange : {true, false}) {
    const std::string left = exchange ? join(parent_of(path), name_aside(path))
                                      : join(path, std::string(unfinished) + "save");
    if (look(left).found != Found::folder) continue;
    try {
      // Takes the name over from the dead, and goes away.
      const FolderReplacement again(path, &held, exchange);
    } catch (const Error&) {
      // It stays for somebody who may remove it.
    }
  }
}

FolderReplacement::FolderReplacement(const std::string& target, FolderLock* held,
                                     bool exchange_wanted)
    : target_(real_folder(target)), held_(held == nullptr ? &own_ : held) {
  parent_ = parent_of(target_);
  const Found there = look(join(target_, ".")).found;
  if (there == Found::nothing) {
    if (look(target_).found != Found::nothing) fail_io("cannot make the folder", target_, EEXIST);
    parents_.make_with_parents(parent_);
    make_aside(parent_, name_aside(target_));
    return;
  }
  if (held == nullptr) own_ = FolderLock(target_);
  if (::access(target_.c_str(), W_OK | X_OK) != 0) fail_io("cannot write to", target_, errno);
  way_ = exchange_wanted && can_replace(target_) ? Way::exchange : Way::merge;
  if (way_ == Way::exchange) {
    make_aside(parent_, name_aside(target_));
  } else {
    make_aside(target_, std::string(unfinished) + "save");
  }
}

// What is there already under the name is another writer's at work, or was left by one that has died:
// the lock tells which. Without locks the name is one that nobody else takes.
void FolderReplacement::make_aside(const std::string& folder, const std::string& name) {
  static std::atomic<unsigned> counter{0};
  std::string path = join(folder, name);
  bool shared_name = true;
  for (int attempt = 0; attempt < 100; ++attempt) {
    switch (claim(path, target_, shared_name, staged_)) {
      case Claim::made: path_ = std::move(path); return;
      case Claim::again: break;
      case Claim::taken:
        shared_name = false;
        path = join(folder, name + "-" + std::to_string(::getpid()) + "-" +
                                std::to_string(counter.fetch_add(1, std::memory_order_relaxed)));
    }
  }
  fail_io("cannot make the folder", path, EEXIST);
}

FolderReplacement::~FolderReplacement() {
  if (!path_.empty()) remove_tree(path_);
}

void FolderReplacement::make_folder(const std::string& relative) {
  if (::mkdir(join(path_, relative).c_str(), 0777) == 0) {
    folders_.push_back(relative);
    return;
  }
  for (std::size_t end = relative.find('/');; end = relative.find('/', end + 1)) {
    const std::string part = relative.substr(0, end);
    const std::string path = join(path_, part);
    if (::mkdir(path.c_str(), 0777) == 0) {
      folders_.push_back(part);
    } else if (errno != EEXIST) {
      fail_io("cannot make the folder", path, errno);
    }
    if (end == std::string::npos) return;
  }
}

void FolderReplacement::keep(const std::string& relative) {
  if (way_ == Way::merge) return;
  const std::size_t last = relative.rfind('/');
  if (last != std::string::npos) make_folder(relative.substr(0, last));
  if (look(join(target_, relative)).found != Found::folder) {
    link_file(join(target_, relative), join(path_, relative));
    return;
  }
  std::vector<std::string> folders{relative};
  while (!folders.empty()) {
    const std::string at = std::move(folders.back());
    folders.pop_back();
    make_folder(at);
    for (const Item& item : list(join(target_, at))) {
      std::string inner = join(at, item.name);
      if (is_unfinished(item.name)) continue;
      if (item.found == Found::folder) {
        folders.push_back(std::move(inner));
      } else {
        link_file(join(target_, inner), join(path_, inner));
      }
    }
  }
}

// Permissions and owners of the old folders for the new ones.
void FolderReplacement::copy_manner() const {
  for (std::size_t i = 0; i <= folders_.size(); ++i) {
    const std::string from = i == 0 ? target_ : join(target_, folders_[i - 1]);
    const std::string to = i == 0 ? path_ : join(path_, folders_[i - 1]);
    struct stat old {};
    struct stat made {};
    if (::lstat(from.c_str(), &old) != 0 || !S_ISDIR(old.st_mode)) continue;
    if (::lstat(to.c_str(), &made) != 0) fail_io("cannot look at", to, errno);
    if (old.st_uid != made.st_uid || old.st_gid != made.st_gid) {
      // Not everybody may; then the folder is the one who saves'.
      if (::lchown(to.c_str(), old.st_uid, old.st_gid) != 0) errno = 0;
    }
    if (old.st_mode != made.st_mode && ::chmod(to.c_str(), old.st_mode & 07777) != 0) {
      fail_io("cannot give permissions to", to, errno);
    }
  }
}

void FolderReplacement::commit(bool durable) {
  if (path_.empty()) fail(Code::internal, "\"", target_, "\" has been replaced already");
  if (durable) sync_tree(path_);
  if (way_ == Way::exchange) copy_manner();
  Rename how = way_ == Way::fresh ? Rename::no_replace : Rename::exchange;
  int error = way_ == Way::merge ? EINVAL : rename_as(path_, target_, how);
  if (error == EINVAL && way_ == Way::fresh) {
    error = rename_as(path_, target_, how = Rename::plain);
  }
  if (error == EEXIST || error == ENOTEMPTY) fail_busy(target_);
  if (way_ != Way::fresh && (error == EINVAL || error == EBUSY || error == EPERM)) {
    way_ = Way::merge;
    merge(durable);
  } else if (error != 0) {
    fail_io("cannot replace", target_, error);
  } else {
    try {
      if (durable) sync(parent_);
      for (const std::string& made : parents_.made()) {
        if (durable) sync(parent_of(made));
      }
    } catch (...) {
      if (way_ == Way::exchange) {
        rename_as(path_, target_, Rename::exchange);
      } else {
        rename_as(target_, path_, Rename::plain);
      }
      throw;
    }
  }
  parents_.keep();
  // The lock of the old folder goes with the last name of it.
  FolderLock old;
  if (way_ != Way::merge) {
    old = std::move(*held_);
    *held_ = std::move(staged_);
  }
  if (way_ != Way::fresh) remove_tree(path_);
  path_.clear();
}

void FolderReplacement::merge(bool durable) {
  std::vector<std::string> folders{{}};
  std::vector<std::string> files;
  std::vector<std::string> metas;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string at = folders[i];
    for (const Item& item : list(at.empty() ? path_ : join(path_, at))) {
      std::string inner = at.empty() ? item.name : join(at, item.name);
      auto& to = item.found == Found::folder ? folders : item.name == "meta.json" ? metas : files;
      to.push_back(std::move(inner));
    }
  }
  // What is nested first: whoever finds a dictionary finds all of it.
  files.insert(files.end(), metas.rbegin(), metas.rend());
  NewFolders made;
  for (std::size_t i = 1; i < folders.size(); ++i) made.make(join(target_, folders[i]));
  std::vector<std::pair<std::string, std::string>> steps;
  steps.reserve(files.size());
  for (const std::string& file : files) steps.emplace_back(join(path_, file), join(target_, file));
  std::vector<bool> exchanged(steps.size());
  std::size_t done = 0;
  try {
    for (; done < steps.size(); ++done) {
      const auto& [from, to] = steps[done];
      int error = rename_as(from, to, Rename::exchange);
      exchanged[done] = error == 0;
      if (error == ENOENT || error == EINVAL) error = rename_as(from, to, Rename::plain);
      if (error != 0) fail_io("cannot replace", to, error);
    }
    for (std::size_t i = 0; durable && i < folders.size(); ++i) {
      sync(folders[i].empty() ? target_ : join(target_, folders[i]));
    }
  } catch (...) {
    while (done-- > 0) {
      const auto& [from, to] = steps[done];
      if (exchanged[done]) {
        rename_as(from, to, Rename::exchange);
      } else {
        rename_as(to, from, Rename::plain);
      }
    }
    throw;
  }
  made.keep();
  for (const std::string& old : dropped_) remove_tree(join(target_, old));
}

}  // namespace td::files
