#include "handle_table.h"

#include <new>

namespace capi {

HandleTable HandleTable::table_;

HandleTable::Slot* HandleTable::far_slot(std::uint32_t index) noexcept {
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
  if (block >= blocks || index >= last_index) {
    used_.fetch_sub(1, std::memory_order_relaxed);
    throw std::bad_alloc();
  }
  if (block_[block].load(std::memory_order_acquire) == nullptr) {
    Slot* made = new (std::nothrow) Slot[std::size_t{1} << top];
    if (made == nullptr) {
      // The index stays unused.
      throw std::bad_alloc();
    }
    Slot* expected = nullptr;
    if (!block_[block].compare_exchange_strong(expected, made, std::memory_order_acq_rel))
      delete[] made;
  }
  return index;
}

void HandleTable::give_free(std::uint32_t index) noexcept {
  Slot* slot = slot_at(index);
  std::uint64_t head = free_.load(std::memory_order_relaxed);
  for (;;) {
    slot->next.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    const std::uint64_t counted = ((head >> 32) + 1) << 32 | index;
    if (free_.compare_exchange_weak(head, counted, std::memory_order_acq_rel)) return;
  }
}

struct HandleTable::PocketEnd {
  ~PocketEnd() {
    while (pocket_.count > 0) instance().give_free(pocket_.slots[--pocket_.count]);
    pocket_.count = -2;
  }
};

std::uint32_t HandleTable::take_slot() {
  const std::uint32_t index = take_free();
  return index == no_slot ? grow() : index;
}

void HandleTable::give_slot(std::uint32_t index) noexcept {
  if (pocket_.count == -1) {
    static thread_local const PocketEnd end;
    (void)&end;
    pocket_.count = 0;
    pocket_.slots[pocket_.count++] = index;
    return;
  }
  give_free(index);
}

std::int64_t HandleTable::live() const noexcept {
  const std::uint32_t used = used_.load(std::memory_order_acquire);
  std::int64_t live = 0;
  for (std::uint32_t i = 0; i < used; ++i) {
    const Slot* slot = const_cast<HandleTable*>(this)->slot_at(i);
    if (slot != nullptr && (slot->tag.load(std::memory_order_acquire) & kind_mask) != 0) ++live;
  }
  return live;
}

}  // namespace capi
