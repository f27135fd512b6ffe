#include "core/replay/live_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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
           "\" lies where files cannot be locked: it cannot be shared between processes");
    }
    files::fail_io("cannot lock", path, errno);
  }
}

}  // namespace

struct LiveFolder::Content {
  std::uint64_t magic = 0;
  RingCounts counts;
  std::int64_t stored_cursor = 0, stored_written = 0;  // of the JSON files
};

std::string LiveFolder::text(const RingCounts& counts) {
  Content content;
  content.magic = magic;
  content.counts = counts;
  content.stored_cursor = counts.cursor;
  content.stored_written = counts.written;
  std::string result(sizeof content, '\0');
  std::memcpy(result.data(), &content, sizeof content);
  return result;
}

LiveFolder::LiveFolder(std::string folder, const RingCounts& stored)
    : folder_(std::move(folder)), path_(files::join(folder_, file_name)) {
  directory_ = files::Descriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_.is_open()) files::fail_io("cannot open the folder", folder_, errno);
  lock(directory_.get(), LOCK_SH | LOCK_NB, folder_);
  file_ = files::Descriptor(::openat(directory_.get(), file_name,
                                     O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  if (!file_.is_open()) {
    if (errno == ELOOP) fail(Code::io, "refused: \"", path_, "\" is a symbolic link");
    files::fail_io("cannot open", path_, errno);
  }
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) files::fail_io("cannot look at", path_, errno);
  if (!S_ISREG(info.st_mode)) fail(Code::io, "refused: \"", path_, "\" is not a regular file");
  const Hold hold(*this, /*alone=*/true);
  if (::fstat(file_.get(), &info) != 0) files::fail_io("cannot look at", path_, errno);
  if (info.st_size != 0) {
    const Content now = content();
    if (now.stored_cursor == stored.cursor && now.stored_written == stored.written) {
      if (now.counts.capacity != stored.capacity && stored.capacity != 0) {
        fail(Code::format, "\"", path_, "\" says that there are ", now.counts.capacity,
             " places for rows; there are ", stored.capacity);
      }
      return;
    }
  }
  const std::string first = text(stored);
  files::write_all_at(file_.get(), first.data(), first.size(), 0, path_);
}

std::optional<RingCounts> LiveFolder::glance(const std::string& folder, const RingCounts& stored) {
  const std::string path = files::join(folder, file_name);
  if (files::look(path).found != files::Found::file) return std::nullopt;
  const files::Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) files::fail_io("cannot open", path, errno);
  lock(file.get(), LOCK_SH, path);
  const Content now = content_of(file.get(), path);
  const bool holds = now.stored_cursor == stored.cursor && now.stored_written == stored.written;
  return holds ? std::optional<RingCounts>(now.counts) : std::nullopt;
}

LiveFolder::Content LiveFolder::content_of(int file, const std::string& path) {
  Content result;
  auto* bytes = reinterpret_cast<char*>(&result);
  std::size_t done = 0;
  while (done < sizeof result) {
    const ssize_t n = ::pread(file, bytes + done, sizeof result - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) files::fail_io("cannot read", path, errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  if (done != sizeof result || result.magic != magic)
    fail(Code::format, "\"", path, "\" does not say where a ring of rows stands");
  result.counts.check("\"" + path + "\"");
  return result;
}

void LiveFolder::put(const Content& content) {
  files::write_all_at(file_.get(), reinterpret_cast<const char*>(&content), sizeof content, 0,
                      path_);
}

LiveFolder::Content LiveFolder::content() const { return content_of(file_.get(), path_); }

RingCounts LiveFolder::read() const { return content().counts; }

void LiveFolder::write(const RingCounts& counts) {
  Content now = content();
  now.counts = counts;
  put(now);
}

void LiveFolder::note_stored(const RingCounts& counts) {
  Content now = content();
  now.stored_cursor = counts.cursor;
  now.stored_written = counts.written;
  put(now);
}

LiveFolder::Hold::Hold(const LiveFolder& live, bool alone) : file_(live.file_.get()) {
  lock(file_, alone ? LOCK_EX : LOCK_SH, live.path_);
}

LiveFolder::Hold::~Hold() { ::flock(file_, LOCK_UN); }

}  // namespace td
