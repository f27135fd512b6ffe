#include "core/io/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

namespace td::files {

namespace {

// Linux limits one write to slightly below 2 GiB.
constexpr std::size_t write_piece = std::size_t{1} << 30;

}  // namespace

void fail_io(const char* what, const std::string& path, int error) {
  if (error == ENOMEM) {
    fail(Code::out_of_memory, what, " \"", path, "\": ", std::generic_category().message(error));
  }
  fail(Code::io, what, " \"", path, "\": ", std::generic_category().message(error));
}

void Descriptor::reset() noexcept {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

std::string absolute(const std::string& path) {
  std::string whole = path;
  if (path.empty() || path.front() != '/') {
    const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
    if (!here) fail_io("cannot find the current folder for", path, errno);
    whole = std::string(here.get()) + "/" + path;
  }
  std::string result;
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t end = std::min(whole.find('/', at), whole.size());
    const std::string_view part(whole.data() + at, end - at);
    if (!part.empty() && part != ".") result.append(1, '/').append(part);
    at = end + 1;
  }
  return result.empty() ? "/" : result;
}

std::string join(const std::string& folder, std::string_view name) {
  std::string path;
  path.reserve(folder.size() + 1 + name.size());
  path.append(folder);
  if (path.empty() || path.back() != '/') path.push_back('/');
  return path.append(name);
}

Look look(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    fail_io("cannot look at", path, errno);
  }
  return look_of(info);
}

Look look_of(const struct stat& info) noexcept {
  Look look;
  look.bytes = static_cast<std::uint64_t>(info.st_size);
  look.mode = info.st_mode & 07777;
  look.owner = info.st_uid;
  look.group = info.st_gid;
  look.found = S_ISREG(info.st_mode)   ? Found::file
               : S_ISDIR(info.st_mode) ? Found::folder
               : S_ISLNK(info.st_mode) ? Found::link
                                       : Found::other;
  return look;
}

void keep_manner(int file, const Look& old, const std::string& path) {
  if (old.found != Found::file) return;
  struct stat made {};
  if (::fstat(file, &made) != 0) fail_io("cannot look at", path, errno);
  if (old.owner != made.st_uid || old.group != made.st_gid) {
    // Without the right to change the owner, the file belongs to its writer.
    if (::fchown(file, old.owner, old.group) != 0) errno = 0;
  } else if ((old.mode & 0777U) == (made.st_mode & 07777)) {
    return;
  }
  if (::fchmod(file, old.mode & 0777U) != 0) fail_io("cannot give permissions to", path, errno);
}

std::string read(const std::string& path, std::size_t limit) {
  return read(Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)),
              limit, path);
}

std::string read(Descriptor file, std::size_t limit, const std::string& path) {
  if (!file.is_open()) {
    if (errno == ELOOP) fail(Code::io, "refused: \"", path, "\" is a symbolic link");
    fail_io("cannot open", path, errno);
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail_io("cannot look at", path, errno);
  if (!S_ISREG(info.st_mode)) fail(Code::io, "refused: \"", path, "\" is not a regular file");
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes > limit) {
    fail(Code::format, "\"", path, "\" is too long: ", bytes, " bytes, at most ", limit,
         " are read");
  }
  std::string text(static_cast<std::size_t>(bytes), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::read(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_io("cannot read", path, errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  text.resize(done);
  return text;
}

namespace {

// Calls `write(data, bytes)` until all bytes are written: one call may write fewer.
template <class Write>
void write_pieces(const char* data, std::size_t bytes, const std::string& path, Write&& write) {
  while (bytes != 0) {
    const ssize_t n = write(data, std::min(bytes, write_piece));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_io("cannot write", path, errno);
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

}  // namespace

void write_all(int file, const char* data, std::size_t bytes, const std::string& path) {
  write_pieces(data, bytes, path,
               [&](const char* at, std::size_t n) { return ::write(file, at, n); });
}

void write_all_at(int file, const char* data, std::size_t bytes, std::uint64_t offset,
                  const std::string& path) {
  write_pieces(data, bytes, path, [&](const char* at, std::size_t n) {
    return ::pwrite(file, at, n, static_cast<off_t>(offset + static_cast<std::size_t>(at - data)));
  });
}

void read_all_at(int file, char* data, std::size_t bytes, std::uint64_t offset,
                 const std::string& path) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::pread(file, data + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_io("cannot read", path, errno);
    if (n == 0) {
      fail(Code::format, "\"", path, "\" is too short: ", bytes - done, " bytes are missing");
    }
    done += static_cast<std::size_t>(n);
  }
}

void copy_all(int from, int to, const std::string& path) {
  std::vector<char> bytes(std::size_t{1} << 20);
  for (std::uint64_t at = 0;;) {
    const ssize_t count = ::pread(from, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_io("cannot read", path, errno);
    if (count == 0) return;
    write_all_at(to, bytes.data(), static_cast<std::size_t>(count), at, path);
    at += static_cast<std::uint64_t>(count);
  }
}

void sync(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) fail_io("cannot open", path, errno);
  sync(file.get(), path);
}

void sync(int file, const std::string& path) {
  while (::fsync(file) != 0) {
    if (errno == EINTR) continue;
    if (errno == EINVAL || errno == ENOTSUP || errno == EROFS) return;
    fail_io("cannot write back", path, errno);
  }
}

void resize(int file, std::uint64_t bytes, const std::string& path) {
  while (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    if (errno != EINTR) fail_io("cannot make room for", path, errno);
  }
}

std::string parent_of(const std::string& path) {
  const std::size_t last = path.rfind('/');
  return last == 0 || last == std::string::npos ? "/" : path.substr(0, last);
}

std::optional<std::uint64_t> free_bytes(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0 || info.f_blocks == 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

NewFolders::~NewFolders() {
  if (!origin_.is_here()) return;
  for (auto path = made_.rbegin(); path != made_.rend(); ++path) ::rmdir(path->c_str());
}

void NewFolders::make(const std::string& path) {
  made_.reserve(made_.size() + 1 + made_.size() / 2);
  std::string copy = path;
  if (::mkdir(path.c_str(), 0777) == 0) {
    made_.push_back(std::move(copy));
    return;
  }
  if (errno != EEXIST) fail_io("cannot make the folder", path, errno);
  const Found found = look(path).found;
  if (found == Found::link) fail(Code::io, "refused: \"", path, "\" is a symbolic link");
  if (found != Found::folder) fail_io("cannot make the folder", path, EEXIST);
}

void NewFolders::sync() const {
  for (const std::string& folder : made_) files::sync(parent_of(folder));
}

void NewFolders::make_with_parents(const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) return;
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    struct stat info {};
    if (::stat(part.c_str(), &info) != 0) {
      if (errno != ENOENT) fail_io("cannot look at", part, errno);
      make(part);
    } else if (!S_ISDIR(info.st_mode)) {
      fail_io("cannot make the folder", part, ENOTDIR);
    }
    if (end == std::string::npos) return;
  }
}

}  // namespace td::files
