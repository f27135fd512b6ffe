// core/io/mappings.h: which parts of which files this process has mapped, and how many mappings it may have.
#pragma once

#include <sys/stat.h>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace td {

// One entry for each live MappedFile. Calls need the lock; hold it from checking a file's size until its
// entry is added, so that the file is not truncated between.
class Mappings {
 public:
  static Mappings& get();
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  void add(std::uint64_t device, std::uint64_t inode, std::uint64_t bytes);
  void remove(std::uint64_t device, std::uint64_t inode, std::uint64_t bytes) noexcept;

  // Whether this process maps the file beyond its first `bytes`. Truncating it there would turn a read into a
  // fatal signal.
  bool reach_beyond(const struct stat& file, std::uint64_t bytes) const noexcept;

  // Whether further mappings should be left to threads, libraries and malloc.
  bool crowded() const noexcept { return entries_.size() >= most_; }
  void set_most(std::size_t files) noexcept { most_ = files; }  // for tests
  static std::size_t system_limit() noexcept;                   // vm.max_map_count; 0: unknown
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
