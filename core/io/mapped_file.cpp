#include "core/io/mapped_file.h"

#include "core/io/file_io.h"
#include "core/io/mappings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace td {

namespace {

bool cannot_write(int error) noexcept {
  return error == EACCES || error == EPERM || error == EROFS || error == ETXTBSY;
}

std::size_t count_mappings() noexcept {
  const files::Descriptor file(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  std::size_t lines = 0;
  char text[4096];
  for (ssize_t n; file.get() >= 0 && (n = ::read(file.get(), text, sizeof text)) > 0;) {
    lines += static_cast<std::size_t>(std::count(text, text + n, '\n'));
  }
  return lines;
}

// Tells the limit on the number of mappings from a lack of memory.
[[noreturn]] void fail_no_room(std::size_t bytes, const std::string& path) {
  const std::string what = path.empty() ? std::string() : " of \"" + path + "\"";
  const std::size_t limit = Mappings::system_limit();
  if (limit != 0 && count_mappings() + 16 >= limit) {
    fail(Code::out_of_memory, "cannot map ", bytes, " bytes", what, ": the process has ", limit,
         " mappings, which is the system's limit vm.max_map_count, and each tensor takes one; "
         "raise the limit, store the dictionary as an archive or consolidated, which takes one in "
         "all, or load it with private mappings: small tensors are read then");
  }
  fail(Code::out_of_memory, "cannot map ", bytes, " bytes", what, ": no room in the address space");
}

// Returns nullptr if memory or mappings are exhausted.
char* try_map(std::size_t bytes, int flags, int file, const std::string& path) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (memory != MAP_FAILED) return static_cast<char*>(memory);
  if (errno != ENOMEM) files::fail_io("cannot map", path, errno);
  return nullptr;
}

char* map(std::size_t bytes, int flags, int file, const std::string& path) {
  char* memory = try_map(bytes, flags, file, path);
  if (memory == nullptr) fail_no_room(bytes, path);
  return memory;
}

// When mappings are scarce, small private mappings are read instead. Larger files are always mapped, so that
// their pages can be evicted.
constexpr std::size_t most_read = std::size_t{1} << 20;

// Reads the first bytes of a file into malloc's memory.
char* read_bytes(int file, std::size_t bytes, const std::string& path) {
  constexpr std::size_t alignment = 64;
  void* memory = nullptr;
  if (::posix_memalign(&memory, alignment, bytes) != 0) {
    fail(Code::out_of_memory, "no memory for the ", bytes, " bytes of \"", path, "\"");
  }
  std::unique_ptr<char, decltype(&std::free)> data(static_cast<char*>(memory), &std::free);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::pread(file, data.get() + done, bytes - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) files::fail_io("cannot read", path, errno);
    if (n == 0) {
      fail(Code::format, "\"", path, "\" is too short: ", bytes, " bytes expected, ", done,
           " found");
    }
    done += static_cast<std::size_t>(n);
  }
  return data.release();
}

}  // namespace

std::shared_ptr<MappedFile> MappedFile::open(const std::string& path, std::size_t bytes,
                                             MapMode mode) {
  std::shared_ptr<MappedFile> result =
      open_in(AT_FDCWD, path.c_str(), files::absolute(path), bytes, mode);
  if (!result) files::fail_io("cannot open", path, ENOENT);
  return result;
}

std::shared_ptr<MappedFile> MappedFile::open_in(int folder, const char* name, std::string path,
                                                std::size_t bytes, MapMode mode) {
  // O_NONBLOCK: opening a pipe of this name would block.
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int number = -1;
  if (mode == MapMode::shared) {
    number = ::openat(folder, name, O_RDWR | flags);
    if (number < 0 && cannot_write(errno)) mode = MapMode::priv;
  }
  if (number < 0 && mode == MapMode::priv) number = ::openat(folder, name, O_RDONLY | flags);
  if (number < 0) {
    if (errno == ENOENT) return nullptr;
    if (errno == ELOOP) fail(Code::io, "refused: \"", path, "\" is a symbolic link");
    if (errno == EISDIR) fail(Code::io, "refused: \"", path, "\" is not a regular file");
    files::fail_io("cannot open", path, errno);
  }
  const files::Descriptor file(number);
  return of_open(file.get(), std::move(path), bytes, mode);
}

std::shared_ptr<MappedFile> MappedFile::of_open(int file, std::string path, std::size_t bytes,
                                                MapMode mode) {
  std::shared_ptr<MappedFile> result(new MappedFile);
  struct stat info {};
  auto lock = Mappings::get().lock();
  if (::fstat(file, &info) != 0) files::fail_io("cannot look at", path, errno);
  if (!S_ISREG(info.st_mode)) fail(Code::io, "refused: \"", path, "\" is not a regular file");
  if (bytes == whole) bytes = static_cast<std::size_t>(info.st_size);
  if (static_cast<std::uint64_t>(info.st_size) < bytes) {
    fail(Code::format, "\"", path, "\" is too short: ", bytes, " bytes expected, ", info.st_size,
         " found");
  }
  result->device_ = info.st_dev;
  result->inode_ = info.st_ino;
  result->mode_ = mode;
  const bool may_read = mode == MapMode::priv && bytes <= most_read;
  bool mapped = bytes != 0 && !(may_read && Mappings::get().crowded());
  if (mapped) {
    Mappings::get().add(info.st_dev, info.st_ino, bytes);
    result->bytes_ = bytes;
  }
  lock.unlock();
  if (mapped) {
    result->data_ = try_map(bytes, mode == MapMode::shared ? MAP_SHARED : MAP_PRIVATE, file, path);
    mapped = result->data_ != nullptr;
    if (!mapped && !may_read) fail_no_room(bytes, path);
  }
  if (bytes != 0 && !mapped) {
    result->unmap();
    result->read_.reset(read_bytes(file, bytes, path));
    result->data_ = result->read_.get();
    result->bytes_ = bytes;
  }
  result->path_ = std::move(path);
  return result;
}

std::shared_ptr<MappedFile> MappedFile::anonymous(std::size_t bytes) {
  std::shared_ptr<MappedFile> result(new MappedFile);
  result->mode_ = MapMode::shared;
  if (bytes != 0) {
    result->data_ = map(bytes, MAP_SHARED | MAP_ANONYMOUS, -1, {});
    result->bytes_ = bytes;
  }
  return result;
}

MappedFile::~MappedFile() { unmap(); }

void MappedFile::unmap() noexcept {
  const std::size_t bytes = std::exchange(bytes_, 0);
  if (bytes == 0 || read_) return;
  if (data_ != nullptr) ::munmap(data_, bytes);
  if (inode_ == 0) return;  // anonymous memory
  const auto lock = Mappings::get().lock();
  Mappings::get().remove(device_, inode_, bytes);
}

bool MappedFile::is_file(const std::string& path) const noexcept {
  struct stat info {};
  return !path_.empty() && ::lstat(path.c_str(), &info) == 0 && info.st_dev == device_ &&
         info.st_ino == inode_;
}

void MappedFile::flush() const {
  if (bytes_ == 0 || !writes_through()) return;
  if (::msync(data_, bytes_, MS_SYNC) != 0) files::fail_io("cannot write back", path_, errno);
}

}  // namespace td
