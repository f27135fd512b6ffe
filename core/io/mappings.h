// core/io/mappings.h: which bytes of which files this process has mapped, and how many mappings it may have.
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

  // Whether so many files are mapped that the rest of what the system allows is left to others: threads,
  // libraries and malloc need mappings too.
  bool crowded() const noexcept { return entries_.size() >= most_; }
  void set_most(std::size_t files) noexcept { most_ = files; }  // for tests
  static std::size_t system_limit() noexcept;                   // vm.max_map_count; 0: not known
  static std::size_t most_by_system() noexcept;

 private:
  struct Entry {
    std::uint64_t device;
    std::uint64_t bytes;
  };
  std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, Entry> entries_;  // by inode
  std::size_t most_ = most_by_system();
};

}  // namespace td
