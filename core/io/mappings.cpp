#include "core/io/mappings.h"

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

bool Mappings::reach_beyond(const struct stat& file, std::uint64_t bytes) const noexcept {
  const auto [first, last] = entries_.equal_range(file.st_ino);
  for (auto at = first; at != last; ++at) {
    if (at->second.device == file.st_dev && at->second.bytes > bytes) return true;
  }
  return false;
}

}  // namespace td
