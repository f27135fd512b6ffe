#include "core/tensor/memory_ranges.h"

#include <algorithm>

namespace td {

MemoryRange range_of(const at::Tensor& tensor) noexcept {
  const MemoryRange storage = storage_range(tensor);
  if (storage.empty() || tensor.numel() == 0) return {};
  const auto item = static_cast<std::uintptr_t>(tensor.element_size());
  const c10::IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  std::uintptr_t last = 0;  // libtorch has no negative strides
  for (std::size_t i = 0; i < sizes.size(); ++i)
    last += static_cast<std::uintptr_t>(sizes[i] - 1) * static_cast<std::uintptr_t>(strides[i]);
  const std::uintptr_t begin =
      storage.begin + static_cast<std::uintptr_t>(tensor.storage_offset()) * item;
  return {begin, begin + (last + 1) * item};
}

void MemoryRanges::sort() {
  const auto before = [](const Place& a, const Place& b) { return a.range.begin < b.range.begin; };
  // What was allocated in order is sorted.
  if (!std::is_sorted(places_.begin(), places_.end(), before))
    std::sort(places_.begin(), places_.end(), before);
  crowded_.assign(places_.size(), false);
  reach_.reserve(places_.size());
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const MemoryRange& range = places_[k].range;
    const bool from_before = k > 0 && !range.empty() && reach_[k - 1] > range.begin;
    const bool after = k + 1 < places_.size() && !places_[k + 1].range.empty() &&
                       places_[k + 1].range.begin < range.end;
    crowded_[places_[k].added] = from_before || after;
    reach_.push_back(k == 0 ? range.end : std::max(reach_[k - 1], range.end));
  }
}

bool MemoryRanges::meet(const MemoryRange& range) const noexcept {
  if (range.empty()) return false;
  const auto behind = std::lower_bound(
      places_.begin(), places_.end(), range.end,
      [](const Place& place, std::uintptr_t end) { return place.range.begin < end; });
  return behind != places_.begin() &&
         reach_[static_cast<std::size_t>(behind - places_.begin()) - 1] > range.begin;
}

}  // namespace td
