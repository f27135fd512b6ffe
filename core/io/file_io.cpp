#include "core/io/file_io.h"

#include <dirent.h>
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

// Longer writes are cut by the system anyway.
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
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (S_ISREG(info.st_mode)) return {Found::file, bytes};
  if (S_ISDIR(info.st_mode)) return {Found::folder, bytes};
  if (S_ISLNK(info.st_mode)) return {Found::link, bytes};
  return {Found::other, bytes};
}

std::string read(const std::string& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
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

// `write(data, bytes)` until all is written: one call may write less.
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

std::optional<std::uint64_t> free_bytes(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0 || info.f_blocks == 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

std::vector<std::string> folders_in(const std::string& path, std::size_t limit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (!folder) fail_io("cannot list", path, errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) {
      if (errno != 0) fail_io("cannot list", path, errno);
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (look(join(path, name)).found != Found::folder) continue;
    if (names.size() == limit) {
      fail(Code::format, "\"", path, "\" holds more than ", limit, " folders");
    }
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

NewFolders::~NewFolders() {
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

void NewFolders::make_with_parents(const std::string& path) {
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

// A short name of its own: the target's may already be as long as names can be.
NewFile::NewFile(std::string target) : target_(std::move(target)) {
  static std::atomic<unsigned> counter{0};
  const std::string folder = target_.substr(0, target_.rfind('/') + 1);
  for (int attempt = 0;; ++attempt) {
    std::string path = folder + ".tmp-" + std::to_string(::getpid()) + "-" +
                       std::to_string(counter.fetch_add(1, std::memory_order_relaxed));
    const int number =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (number >= 0) {
      file_ = Descriptor(number);
      path_ = std::move(path);
      return;
    }
    if (errno != EEXIST || attempt == 100) fail_io("cannot write", target_, errno);
  }
}

NewFile::NewFile(NewFile&& other) noexcept
    : target_(std::move(other.target_)),
      path_(std::exchange(other.path_, {})),
      file_(std::move(other.file_)) {}

NewFile::~NewFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

void NewFile::write(const char* data, std::size_t bytes) {
  write_all(file_.get(), data, bytes, target_);
}

void NewFile::write_at(std::uint64_t offset, const char* data, std::size_t bytes) {
  write_all_at(file_.get(), data, bytes, offset, target_);
}

void NewFile::sync() {
  if (::fsync(file_.get()) != 0) fail_io("cannot write back", target_, errno);
}

void NewFile::resize(std::size_t bytes) {
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) {
    fail_io("cannot make room for", target_, errno);
  }
}

void NewFile::close() { file_.reset(); }

void NewFile::commit() {
  if (::rename(path_.c_str(), target_.c_str()) != 0) fail_io("cannot replace", target_, errno);
  path_.clear();
}

}  // namespace td::files
