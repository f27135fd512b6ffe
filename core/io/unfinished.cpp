#include "core/io/unfinished.h"

#include "core/io/folder.h"

#include <xxhash.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

namespace td::files {

namespace {

constexpr std::size_t longest_name = 200;  // of a target's name in a temporary name
constexpr std::string_view content_name = unfinished;
constexpr std::string_view file_begin = ".%tmp-";

std::string number_text(std::size_t number) {
  return std::string(unfinished) + "-" + std::to_string(number);
}

bool begins_with(std::string_view text, std::string_view begin) noexcept {
  return text.substr(0, begin.size()) == begin;
}

// ".NAME.%tmp" or ".%tmp", optionally followed by a number.
bool is_aside_name(std::string_view name) noexcept {
  if (name.empty() || name.front() != '.') return false;
  const std::size_t at = name.rfind(".%tmp");
  if (at == std::string_view::npos) return false;
  const std::string_view rest = name.substr(at + 5);
  return rest.empty() || rest.front() == '-';
}

bool is_new_file(std::string_view name) noexcept {
  return begins_with(name, file_begin) && name.size() > file_begin.size() &&
         name.substr(file_begin.size()).find_first_not_of("0123456789-") == std::string_view::npos;
}

// A folder that holds only unfinished content. Without a meta.json it is not a dictionary.
bool is_aside(int folder) {
  for (const Item& item : list(folder, {})) {
    if (!begins_with(item.name, content_name)) return false;
    const std::string_view rest = std::string_view(item.name).substr(content_name.size());
    if (!rest.empty() && rest.front() != '-') return false;
  }
  return true;
}

bool has_name(int folder, const char* name, int other) noexcept {
  struct stat a {};
  struct stat b {};
  return ::fstatat(folder, name, &a, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(other, &b) == 0 &&
         is_one_file(a, b);
}

}  // namespace

std::string name_aside(std::string_view name) {
  std::string result = ".";
  if (name.size() > longest_name) {
    const auto hash = static_cast<unsigned long long>(XXH3_64bits(name.data(), name.size()));
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", hash);
    std::size_t end = longest_name;
    while ((static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U)
      --end;  // cut at a UTF-8 boundary
    result.append(name.substr(0, end)).append(text);
  } else {
    result.append(name);
  }
  if (!name.empty()) result += '.';
  return result.append(unfinished);
}

std::string name_of_new_file(unsigned number) {
  return std::string(file_begin) + std::to_string(::getpid()) + "-" + std::to_string(number);
}

bool is_unfinished(int folder, const Item& item) {
  if (item.found == Found::file) return is_new_file(item.name);
  if (item.found != Found::folder) return false;
  if (!is_aside_name(item.name)) return false;
  const Descriptor inner = open_beneath(folder, item.name, folder_flags);
  return inner.is_open() && is_aside(inner.get());
}

void check_target(const std::string& path) {
  const std::string inside = "/" + std::string(content_name);
  for (std::size_t at = path.find(inside); at != std::string::npos;
       at = path.find(inside, at + 1)) {
    const std::size_t end = at + inside.size();
    if (end != path.size() && path[end] != '/' && path[end] != '-') continue;
    const std::size_t above = at == 0 ? 0 : path.rfind('/', at - 1) + 1;
    const std::string_view name = std::string_view(path).substr(above, at - above);
    if (!is_aside_name(name)) continue;
    fail(Code::io, "refused: \"", path, "\" lies where unfinished work is removed");
  }
}

void remove_left_aside(int folder, const std::string& name) noexcept {
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISDIR(info.st_mode)) return;
  try {
    Descriptor open = open_beneath(folder, name, folder_flags);
    FolderLock left;
    if (!open.is_open() || !left.take(std::move(open), name) || !left.held()) return;
    if (!has_name(folder, name.c_str(), left.descriptor()) || !is_aside(left.descriptor())) return;
    empty_folder(left.descriptor());
    ::unlinkat(folder, name.c_str(), AT_REMOVEDIR);
  } catch (...) {
    // Leave it to a process that may remove it.
  }
}

// A process that writes such a file holds a lock on it.
void remove_left_files(int folder, const std::string& path) {
  for (const Item& item : list(folder, path)) {
    if (item.found != Found::file || !is_new_file(item.name)) continue;
    const Descriptor file =
        open_beneath(folder, item.name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (!file.is_open() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    ::unlinkat(folder, item.name.c_str(), 0);
  }
}

Aside::Aside(Descriptor parent, const std::string& parent_path, const std::string& name, Kind kind,
             const std::string& target)
    : parent_(std::move(parent)), parent_path_(parent_path) {
  static std::atomic<unsigned> counter{0};
  if (!parent_.is_open()) fail_io("cannot open the folder", parent_path, errno);
  const std::string base = name_aside(name);
  std::string wanted = base;
  bool own_name = false;  // whether the name is unique to this process
  for (std::size_t attempt = 0, next = 1; attempt < 200; ++attempt) {
    path_ = join(join(parent_path, wanted), content_name);
    switch (claim(wanted, own_name)) {
      case Claim::made:
        name_.swap(wanted);  // from here on the destructor removes it; must not throw
        try {
          make_content(kind, target);
        } catch (...) {
          remove();
          throw;
        }
        return;
      case Claim::again: break;
      case Claim::busy:
        if (kind == Kind::folder) fail_busy(target);
        // Further files for one target are numbered, so that cleanups find them.
        wanted = base + "-" + std::to_string(next++);
        break;
      case Claim::taken:
        // The name is taken by something else, or locks do not work here.
        own_name = true;
        wanted = base + "-" + std::to_string(::getpid()) + "-" +
                 std::to_string(counter.fetch_add(1, std::memory_order_relaxed));
    }
  }
  fail_io("cannot make the folder", join(parent_path, wanted), EEXIST);
}

// An existing folder of this name belongs to an active writer, which holds its lock, or to one that died.
Aside::Claim Aside::claim(const std::string& name, bool own_name) {
  const std::string path = join(parent_path_, name);
  if (::mkdirat(parent_.get(), name.c_str(), 0777) != 0) {
    if (errno != EEXIST) fail_io("cannot make the folder", path, errno);
    Descriptor old = open_beneath(parent_.get(), name, folder_flags);
    if (!old.is_open()) return errno == ENOENT ? Claim::again : Claim::taken;
    FolderLock left;
    if (!left.take(std::move(old), path)) return Claim::busy;
    if (!left.held()) return Claim::taken;
    // Its writer may have finished since it was opened.
    if (!has_name(parent_.get(), name.c_str(), left.descriptor())) return Claim::again;
    if (!is_aside(left.descriptor())) return Claim::taken;
    empty_folder(left.descriptor());
    const bool gone = ::unlinkat(parent_.get(), name.c_str(), AT_REMOVEDIR) == 0;
    return gone || errno == ENOENT ? Claim::again : Claim::taken;
  }
  Descriptor made = open_beneath(parent_.get(), name, folder_flags);
  if (!made.is_open()) {
    const int error = errno;
    if (error == ENOENT) return Claim::again;  // removed by a cleanup
    ::unlinkat(parent_.get(), name.c_str(), AT_REMOVEDIR);
    fail_io("cannot open the folder", path, error);
  }
  // Until it is locked, another writer's cleanup may claim it.
  try {
    if (!wrapper_.take(std::move(made), path)) return Claim::again;
  } catch (...) {
    ::unlinkat(parent_.get(), name.c_str(), AT_REMOVEDIR);
    throw;
  }
  if (!wrapper_.held()) {
    if (own_name) return Claim::made;
    ::unlinkat(parent_.get(), name.c_str(), AT_REMOVEDIR);
    return Claim::taken;
  }
  if (has_name(parent_.get(), name.c_str(), wrapper_.descriptor())) return Claim::made;
  wrapper_.release();
  return Claim::again;
}

void Aside::make_content(Kind kind, const std::string& target) {
  const std::string name(content_name);
  const int folder = wrapper_.descriptor();
  if (kind == Kind::file) {
    file_ = open_beneath(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (!file_.is_open()) fail_io("cannot write", target, errno);
    return;
  }
  if (::mkdirat(folder, name.c_str(), 0777) != 0) {
    fail_io("cannot make the folder", path_, errno);
  }
  Descriptor made = open_beneath(folder, name, folder_flags);
  if (!made.is_open()) fail_io("cannot open the folder", path_, errno);
  if (!lock_.take(std::move(made), path_)) fail_busy(target);
}

void Aside::remove() noexcept {
  if (name_.empty() || !origin_.is_here()) return;
  const auto gone = [&] { return ::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR) == 0; };
  // The content may be an empty folder.
  if (!gone() &&
      !(::unlinkat(wrapper_.descriptor(), content_name.data(), AT_REMOVEDIR) == 0 && gone())) {
    empty_folder(wrapper_.descriptor());
    gone();
  }
  name_.clear();
}

int Aside::content() const noexcept { return file_.is_open() ? file_.get() : lock_.descriptor(); }

int Aside::rename_to(const std::string& name, Rename how) const noexcept {
  return rename_as(wrapper_.descriptor(), content_name.data(), parent_.get(), name.c_str(), how);
}

int Aside::take_back(const std::string& name, Rename how) const noexcept {
  return rename_as(parent_.get(), name.c_str(), wrapper_.descriptor(), content_name.data(), how);
}

bool Aside::holds(int other) const noexcept {
  return has_name(wrapper_.descriptor(), content_name.data(), other);
}

int Aside::put_away(int folder, const char* name, std::size_t number) const noexcept {
  try {
    return rename_as(folder, name, wrapper_.descriptor(), number_text(number).c_str(),
                     Rename::plain);
  } catch (...) {
    return ENOMEM;
  }
}

int Aside::bring_back(int folder, const char* name, std::size_t number) const noexcept {
  try {
    return rename_as(wrapper_.descriptor(), number_text(number).c_str(), folder, name,
                     Rename::plain);
  } catch (...) {
    return ENOMEM;
  }
}

}  // namespace td::files
