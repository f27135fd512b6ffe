// Which bag a file is.
#include "core/bags/bag.h"
#include "core/base/error.h"
#include "core/base/quote.h"
#include "core/io/file_io.h"

#include <fcntl.h>
#include <unistd.h>
#include <array>

namespace td::bags {

namespace {

std::string first_bytes(const std::string& path) {
  const files::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 16> bytes{};
  const auto size = file.is_open() ? ::pread(file.get(), bytes.data(), bytes.size(), 0) : -1;
  return {bytes.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
}

bool begins_mcap(const std::string& bytes) { return bytes.compare(0, 5, "\x89MCAP") == 0; }
bool begins_sqlite(const std::string& bytes) {
  return bytes == std::string("SQLite format 3\0", 16);
}

}  // namespace

bool is_mcap(const std::string& path) { return begins_mcap(first_bytes(path)); }

bool is_bag(const std::string& path) {
  const std::string bytes = first_bytes(path);
  return begins_mcap(bytes) || begins_sqlite(bytes);
}

std::unique_ptr<Bag> open_bag(const std::string& path, std::uint64_t max_bytes) {
  const std::string bytes = first_bytes(path);
  std::unique_ptr<Bag> bag;
  if (begins_mcap(bytes)) {
    bag = open_mcap(path, max_bytes);
  } else if (begins_sqlite(bytes)) {
    bag = open_sqlite(path, max_bytes);
  }
  if (bag != nullptr) {
    bag->name = path.substr(path.rfind('/') + 1);
    return bag;
  }
  fail(Code::format, quote(path), " is no bag of ROS 2: neither MCAP nor SQLite");
}

}  // namespace td::bags
