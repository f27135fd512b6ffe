#include "handle_table.h"

#include <new>

namespace capi {

HandleTable::Slot* HandleTable::slot_at(std::uint32_t index) noexcept {
  // Block b holds the indices from 2^(b + first_bits) - 2^first_bits on.
  const std::uint64_t shifted = std::uint64_t{index} + (std::uint64_t{1} << first_bits);
  const auto top = static_cast<std::size_t>(63 - __builtin_clzll(shifted));
  const std::size_t block = top - first_bits;
  if (block >= blocks) return nullptr;
  Slot* slots = block_[block].load(std::memory_order_acquire);
  return slots == nullptr ? nullptr : slots + (shifted - (std::uint64_t{1} << top));
}

std::uint32_t HandleTable::take_free() noexcept {
  std::uint64_t head = free_.load(std::memory_order_acquire);
  for (;;) {
    const auto index = static_cast<std::uint32_t>(head);
    if (index == no_slot) return no_slot;
    const std::uint64_t next = slot_at(index)->next.load(std::memory_order_relaxed);
    const std::uint64_t counted = ((head >> 32) + 1) << 32 | next;
    if (free_.compare_exchange_weak(head, counted, std::memory_order_acq_rel)) return index;
  }
}

std::uint32_t HandleTable::grow() {
  const std::uint32_t index = used_.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t shifted = std::uint64_t{index} + (std::uint64_t{1} << first_bits);
  const auto top = static_cast<std::size_t>(63 - __builtin_clzll(shifted));
  const std::size_t block = top - first_bits;
  if (block >= blocks || index >= 0x0FFFFFFF) {
    used_.fetch_sub(1, std::memory_order_relaxed);
    throw std::bad_alloc();
  }
  if (block_[block].load(std::memory_order_acquire) == nullptr) {
    Slot* made = new (std::nothrow) Slot[std::size_t{1} << top];
    if (made == nullptr) {
      // The number is lost, not the memory: nothing else can be using it.
      throw std::bad_alloc();
    }
    Slot* expected = nullptr;
    if (!block_[block].compare_exchange_strong(expected, made, std::memory_order_acq_rel)) delete[] made;
  }
  return index;
}

std::uintptr_t HandleTable::open(void* object, Kind kind) {
  std::uint32_t index = take_free();
  if (index == no_slot) index = grow();
  Slot* slot = slot_at(index);
  // Generations begin at 1, so that no token is a small number and none is 0.
  std::uint64_t generation = ((slot->tag.load(std::memory_order_relaxed) >> 4) + 1) & 0xFFFFFFFF;
  if (generation == 0) generation = 1;
  slot->object.store(object, std::memory_order_release);
  slot->tag.store(generation << 4 | static_cast<std::uint64_t>(kind), std::memory_order_release);
  live_.fetch_add(1, std::memory_order_relaxed);
  return static_cast<std::uintptr_t>(generation << 32 | std::uint64_t{index} << 4 |
                                     static_cast<std::uint64_t>(kind));
}

void* HandleTable::close(std::uintptr_t token, Kind kind) noexcept {
  Slot* slot = slot_at(index_of(token));
  if (slot == nullptr || (token & 15) != static_cast<std::uintptr_t>(kind)) return nullptr;
  void* object = slot->object.load(std::memory_order_acquire);
  std::uint64_t tag = tag_of(token, kind);
  // Of two that free the same handle at once, one wins; the generation stays until the next opening.
  if (!slot->tag.compare_exchange_strong(tag, tag & ~std::uint64_t{15}, std::memory_order_acq_rel)) {
    return nullptr;
  }
  live_.fetch_sub(1, std::memory_order_relaxed);
  const std::uint32_t index = index_of(token);
  std::uint64_t head = free_.load(std::memory_order_relaxed);
  for (;;) {
    slot->next.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    const std::uint64_t counted = ((head >> 32) + 1) << 32 | index;
    if (free_.compare_exchange_weak(head, counted, std::memory_order_acq_rel)) return object;
  }
}

}  // namespace capi
