#include "core/io/mappings.h"

#include "core/io/mapped_file.h"
#include "core/tensor/buffer.h"
#include "core/tensor/foreign.h"

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

bool in_mapping(const at::Tensor& tensor) noexcept {
  return MappedFile::of(tensor) != nullptr || Buffer::over_mapping(tensor);
}

bool solely_owned(const at::Tensor& tensor, std::size_t held) noexcept {
  return uniquely_owned(tensor, held) && !in_mapping(tensor);
}

}  // namespace td
