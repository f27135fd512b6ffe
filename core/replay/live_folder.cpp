#include "core/replay/live_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace td {

namespace {

constexpr std::uint64_t magic = 0x31796C7065724454;  // "TDreply1"

void lock(int file, int how, const std::string& path) {
  while (::flock(file, how) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK)
      fail(Code::busy, "another writer (a save) is at work in \"", path, "\"");
    if (errno == ENOTSUP || errno == ENOSYS || errno == EINVAL || errno == ENOLCK) {
      fail(Code::unsupported, "\"", path,
           "\" is on a file system without locks: it cannot be shared between processes");
    }
    files::fail_io("cannot lock", path, errno);
  }
}

}  // namespace

struct LiveFolder::Content {
  std::uint64_t magic = 0;
  RingCounts counts;
  Mark stored;  // of the JSON files
  Mark saving;  // that a save was about to write; 0.2.0 does not write this field and the next one
  std::int64_t in_save = 0;  // 1: from the beginning of a save to its end
};

std::string LiveFolder::text(const RingCounts& counts) {
  Content content;
  content.magic = magic;
  content.counts = counts;
  content.stored = content.saving = mark_of(counts);
  std::string result(sizeof content, '\0');
  std::memcpy(result.data(), &content, sizeof content);
  return result;
}

LiveFolder::LiveFolder(std::string folder, Use use)
    : folder_(std::move(folder)), path_(files::join(folder_, file_name)), use_(use) {
  int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  if (use_ == Use::share) {
    directory_ = files::Descriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory_.is_open()) files::fail_io("cannot open the folder", folder_, errno);
    lock(directory_.get(), LOCK_SH | LOCK_NB, folder_);
    flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  }
  const int at = use_ == Use::share ? directory_.get() : AT_FDCWD;
  file_ =
      files::Descriptor(::openat(at, use_ == Use::share ? file_name : path_.c_str(), flags, 0666));
  if (!file_.is_open()) {
    if (use_ == Use::read && errno == ENOENT) return;
    if (errno == ELOOP) fail(Code::io, "refused: \"", path_, "\" is a symbolic link");
    files::fail_io("cannot open", path_, errno);
  }
  if (!S_ISREG(status().st_mode)) fail(Code::io, "refused: \"", path_, "\" is not a regular file");
}

RingCounts LiveFolder::begin(const RingCounts& stored) {
  if (!is_new()) {
    const Content now = content();
    const Mark mark = mark_of(stored);
    if (mark == now.stored || mark == now.saving) {
      if (now.counts.capacity != stored.capacity && stored.capacity != 0) {
        fail(Code::format, "\"", path_, "\" says that there are ", now.counts.capacity,
             " places for rows; there are ", stored.capacity);
      }
      return now.counts;
    }
  }
  stored.check("\"" + folder_ + "\"");
  if (use_ == Use::share) {
    const std::string first = text(stored);
    files::write_all_at(file_.get(), first.data(), first.size(), 0, path_);
  }
  return stored;
}

struct stat LiveFolder::status() const {
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) files::fail_io("cannot look at", path_, errno);
  return info;
}

bool LiveFolder::is_new() const { return !file_.is_open() || status().st_size == 0; }

bool LiveFolder::is_removed() const { return file_.is_open() && status().st_nlink == 0; }

void LiveFolder::remove() noexcept { ::unlinkat(directory_.get(), file_name, 0); }

RingCounts LiveFolder::read() const { return content().counts; }

std::optional<RingCounts> LiveFolder::cut_off_save() const {
  if (is_new()) return std::nullopt;
  const Content now = content();
  if (now.in_save == 0) return std::nullopt;
  RingCounts result = now.counts;
  result.length = std::min(result.length, now.saving.written);
  result.cursor = now.saving.cursor;
  result.written = now.saving.written;
  result.gap = 0;
  return result;
}

LiveFolder::Content LiveFolder::content() const {
  constexpr std::size_t shortest = offsetof(Content, saving);
  Content result;
  auto* bytes = reinterpret_cast<char*>(&result);
  std::size_t done = 0;
  while (done < sizeof result) {
    const ssize_t n =
        ::pread(file_.get(), bytes + done, sizeof result - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) files::fail_io("cannot read", path_, errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  if (done < shortest || result.magic != magic)
    fail(Code::format, "\"", path_, "\" is not the state of a replay buffer");
  if (done < offsetof(Content, in_save)) result.saving = result.stored;
  if (done < sizeof result) result.in_save = 0;
  result.counts.check("\"" + path_ + "\"");
  return result;
}

void LiveFolder::put(const Content& content) {
  files::write_all_at(file_.get(), reinterpret_cast<const char*>(&content), sizeof content, 0,
                      path_);
}

void LiveFolder::write(const RingCounts& counts) {
  Content now = content();
  now.counts = counts;
  put(now);
}

void LiveFolder::begin_save(const RingCounts& counts, const std::optional<RingCounts>& stored) {
  Content now = content();
  if (stored && mark_of(*stored) == now.saving) now.stored = now.saving;
  now.saving = mark_of(counts);
  now.in_save = 1;
  put(now);
}

void LiveFolder::end_save() {
  Content now = content();
  now.stored = now.saving;
  now.in_save = 0;
  put(now);
}

LiveFolder::Hold::Hold(const LiveFolder& live, bool alone) : file_(live.file_.get()) {
  if (live.file_.is_open()) lock(file_, alone ? LOCK_EX : LOCK_SH, live.path_);
}

LiveFolder::Hold::~Hold() {
  if (file_ >= 0) ::flock(file_, LOCK_UN);
}

}  // namespace td
