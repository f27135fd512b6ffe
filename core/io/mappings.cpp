#include "core/io/mappings.h"

#include "core/io/file_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

namespace td {

Mappings& Mappings::get() {
  static Mappings* const mappings = new Mappings;  // never destroyed
  return *mappings;
}

void Mappings::add(std::uint64_t device, std::uint64_t inode, std::uint64_t bytes) {
  entries_.emplace(inode, Entry{device, bytes});
}

void Mappings::remove(std::uint64_t device, std::uint64_t inode, std::uint64_t bytes) noexcept {
  const auto [first, last] = entries_.equal_range(inode);
  for (auto at = first; at != last; ++at) {
    if (at->second.device != device || at->second.bytes != bytes) continue;
    entries_.erase(at);
    return;
  }
}

std::size_t Mappings::system_limit() noexcept {
  const files::Descriptor file(::open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC));
  char text[32] = {};
  if (!file.is_open() || ::read(file.get(), text, sizeof text - 1) <= 0) return 0;
  return std::strtoull(text, nullptr, 10);
}

std::size_t Mappings::most_by_system() noexcept {
  const std::size_t limit = system_limit();
  return limit == 0 ? std::numeric_limits<std::size_t>::max() : limit - limit / 8;
}

bool Mappings::reach_beyond(const struct stat& file, std::uint64_t bytes) const noexcept {
  const auto [first, last] = entries_.equal_range(file.st_ino);
  for (auto at = first; at != last; ++at) {
    if (at->second.device == file.st_dev && at->second.bytes > bytes) return true;
  }
  return false;
}

}  // namespace td
