// Shared memory from memfd_create(), opened by other processes through /proc. Sealed against truncation;
// freed with its last user.
#include "core/io/shared_memory.h"

#include "core/base/quote.h"
#include "core/io/file_io.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace td {

namespace {

// The last bytes of the memory. It detects a name whose process and descriptor numbers now belong to another
// file.
struct Trailer {
  char magic[8];
  std::uint64_t nonce;
  std::uint64_t bytes;  // of the content
};
constexpr char magic[8] = {'T', 'D', 'S', 'H', 'A', 'R', 'E', '1'};
constexpr std::string_view prefix = "td1-";

struct Name {
  std::uint64_t process;
  std::uint64_t file;
  std::uint64_t nonce;
};

std::string show(const Name& name) {
  return std::string(prefix) + std::to_string(name.process) + "-" + std::to_string(name.file) +
         "-" + std::to_string(name.nonce);
}

Name parse(const std::string& text) {
  std::uint64_t numbers[3] = {};
  const char* at = text.data();
  const char* end = at + text.size();
  bool sound = text.compare(0, prefix.size(), prefix) == 0;
  if (sound) at += prefix.size();
  for (int i = 0; i < 3 && sound; ++i) {
    if (i != 0) sound = at != end && *at++ == '-';
    const auto read = std::from_chars(at, end, numbers[i]);
    sound = sound && read.ec == std::errc();
    at = read.ptr;
  }
  const Name name{numbers[0], numbers[1], numbers[2]};
  if (!sound || show(name) != text) {
    fail(Code::invalid_argument, quote(text), " is not the name of shared memory");
  }
  return name;
}

[[noreturn]] void fail_system(const char* what, std::size_t bytes, int error) {
  const bool full = error == ENOMEM || error == ENOSPC;
  fail(full ? Code::out_of_memory : Code::io, "cannot ", what, " ", bytes,
       " bytes of shared memory: ", std::generic_category().message(error));
}

char* map(int file, std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail_system("map", bytes, errno);
  return static_cast<char*>(memory);
}

}  // namespace

#if defined(MFD_ALLOW_SEALING) && defined(F_ADD_SEALS)

std::shared_ptr<SharedMemory> SharedMemory::make(std::size_t bytes) {
  const std::size_t room = (bytes + 7) / 8 * 8;
  const std::size_t total = room + sizeof(Trailer);
  files::Descriptor file(::memfd_create("tensordict", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open()) {
    if (errno == ENOSYS) fail(Code::unsupported, "this system does not support shared memory");
    fail_system("make", bytes, errno);
  }
  if (::fchmod(file.get(), S_IRUSR | S_IWUSR) != 0) fail_system("make", bytes, errno);
  // Allocate the pages now: a page that is missing later would raise a fatal signal.
  const int refused = ::posix_fallocate(file.get(), 0, static_cast<off_t>(total));
  if (refused != 0) fail_system("make", bytes, refused);
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    fail_system("make", bytes, errno);
  }
  std::uint64_t nonce = 0;
  if (::getrandom(&nonce, sizeof nonce, 0) != static_cast<ssize_t>(sizeof nonce)) {
    fail_system("name", bytes, errno);
  }
  std::shared_ptr<SharedMemory> result(new SharedMemory);
  result->name_ =
      show({static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(file.get()), nonce});
  result->data_ = map(file.get(), total);
  result->mapped_ = total;
  result->bytes_ = bytes;
  Trailer trailer{{}, nonce, bytes};
  std::memcpy(trailer.magic, magic, sizeof magic);
  std::memcpy(result->data_ + room, &trailer, sizeof trailer);
  result->file_ = file.release();
  return result;
}

std::shared_ptr<SharedMemory> SharedMemory::open(const std::string& text) {
  const Name name = parse(text);
  const std::string path =
      "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.file);
  // The name may lead to any open file of that process: neither block on it nor make it the controlling
  // terminal.
  const files::Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) {
    if (errno == ENOENT || errno == ENXIO || errno == ESRCH) {
      fail(Code::io, "no shared memory ", quote(text),
           ": the process that created it has ended or has released it");
    }
    fail(Code::io, "cannot open shared memory ", quote(text), ": ",
         std::generic_category().message(errno));
  }
  struct stat info {};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || seals < 0) {
    fail(Code::format, quote(text), " does not lead to shared memory");
  }
  if ((seals & F_SEAL_SHRINK) == 0) {
    fail(Code::format, "refused: shared memory ", quote(text), " could be shortened while in use");
  }
  const auto total = static_cast<std::size_t>(info.st_size);
  Trailer trailer{};
  if (total < sizeof trailer) {
    fail(Code::format, "shared memory ", quote(text), " is too short: ", total, " bytes");
  }
  std::shared_ptr<SharedMemory> result(new SharedMemory);
  result->name_ = text;
  result->data_ = map(file.get(), total);
  result->mapped_ = total;
  std::memcpy(&trailer, result->data_ + total - sizeof trailer, sizeof trailer);
  if (std::memcmp(trailer.magic, magic, sizeof magic) != 0) {
    fail(Code::format, quote(text), " does not lead to a shared dictionary");
  }
  if (trailer.nonce != name.nonce) {
    fail(Code::io, "no shared memory ", quote(text), ": another one has replaced it");
  }
  if (trailer.bytes > total - sizeof trailer) {
    fail(Code::format, "shared memory ", quote(text), " is too short: ", trailer.bytes,
         " bytes expected, ", total - sizeof trailer, " found");
  }
  result->bytes_ = static_cast<std::size_t>(trailer.bytes);
  return result;
}

#else

std::shared_ptr<SharedMemory> SharedMemory::make(std::size_t) {
  fail(Code::unsupported, "this system does not support shared memory");
}

std::shared_ptr<SharedMemory> SharedMemory::open(const std::string& text) {
  parse(text);
  fail(Code::unsupported, "this system does not support shared memory");
}

#endif

SharedMemory::~SharedMemory() {
  if (mapped_ != 0) ::munmap(data_, mapped_);
  if (file_ >= 0) ::close(file_);
}

}  // namespace td
