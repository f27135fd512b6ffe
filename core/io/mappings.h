// core/io/mappings.h: which bytes of which files this process has mapped.
#pragma once

#include <sys/stat.h>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace td {

// One entry for each MappedFile, while it lasts. All calls need the lock: who maps a file holds it from
// the look at its size to the entry, so that no cut comes between.
class Mappings {
 public:
  static Mappings& get();
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  void add(std::uint64_t device, std::uint64_t inode, std::uint64_t bytes);
  void remove(std::uint64_t device, std::uint64_t inode, std::uint64_t bytes) noexcept;

  // Whether more of a file is mapped than its first bytes. If they were all that is left of it, a read of
  // the others would end the process with a signal.
  bool reach_beyond(const struct stat& file, std::uint64_t bytes) const noexcept;

 private:
  struct Entry {
    std::uint64_t device;
    std::uint64_t bytes;
  };
  std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, Entry> entries_;  // by inode
};

}  // namespace td
