// core/tensor/memory_ranges.h: which tensors share memory. Compares addresses instead of storages, because
// two storages may wrap the same foreign memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstdint>

namespace td {

// Bytes from `begin` to before `end`; empty without memory.
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

// The whole storage of a tensor, without a look at its strides.
inline MemoryRange storage_range(const at::Tensor& tensor) noexcept {
  const c10::Storage& storage = tensor.unsafeGetTensorImpl()->unsafe_storage();
  if (!storage) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(storage.data());
  return begin == 0 ? MemoryRange{} : MemoryRange{begin, begin + storage.nbytes()};
}

// From the first to the last element.
MemoryRange range_of(const at::Tensor& tensor) noexcept;

// A set of ranges, to detect overlaps.
class MemoryRanges {
 public:
  void add(const MemoryRange& range) { places_.push_back({range, places_.size()}); }
  void sort();  // call after the last add()
  bool empty() const noexcept { return places_.empty(); }

  bool meet(const MemoryRange& range) const noexcept;
  // Whether the `i`-th added range overlaps another one.
  bool meet_others(std::size_t i) const noexcept { return crowded_[i]; }
  // Whether any two of them overlap.
  bool meet_each_other() const noexcept {
    return std::find(crowded_.begin(), crowded_.end(), true) != crowded_.end();
  }

 private:
  struct Place {
    MemoryRange range;
    std::size_t added;
  };
  c10::SmallVector<Place, 12> places_;          // sorted by their start
  c10::SmallVector<std::uintptr_t, 12> reach_;  // the largest end so far
  c10::SmallVector<bool, 12> crowded_;
};

}  // namespace td
