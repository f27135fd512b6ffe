// core/tensor/memory_ranges.h: which tensors share memory. Addresses are compared, not storages: two tensors
// over one piece of foreign memory know nothing of each other.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace td {

// Bytes from `begin` to before `end`. Empty for what has no memory of its own.
struct MemoryRange {
  std::uintptr_t begin = 0, end = 0;

  bool empty() const noexcept { return begin == end; }
  bool meets(const MemoryRange& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
  void cover(const MemoryRange& other) noexcept {
    if (other.empty()) return;
    if (empty() || other.begin < begin) begin = other.begin;
    if (other.end > end) end = other.end;
  }
};

// All of the memory behind a tensor: quick to ask.
inline MemoryRange storage_range(const at::Tensor& tensor) noexcept {
  const c10::Storage& storage = tensor.unsafeGetTensorImpl()->unsafe_storage();
  if (!storage) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(storage.data());
  return begin == 0 ? MemoryRange{} : MemoryRange{begin, begin + storage.nbytes()};
}

// From its first element to its last one.
MemoryRange range_of(const at::Tensor& tensor) noexcept;

// Many ranges, asked whether any of them meets another one.
class MemoryRanges {
 public:
  void add(const MemoryRange& range) { places_.push_back({range, places_.size()}); }
  void sort();  // after the last add()

  bool meet(const MemoryRange& range) const noexcept;
  // Whether the `i`-th range that was added meets another of them.
  bool meet_others(std::size_t i) const noexcept { return crowded_[i]; }

 private:
  struct Place {
    MemoryRange range;
    std::size_t added;
  };
  std::vector<Place> places_;          // by where they begin
  std::vector<std::uintptr_t> reach_;  // the furthest end up to there
  std::vector<bool> crowded_;
};

}  // namespace td
