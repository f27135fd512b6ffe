// handle_table.h: the handles of the C interface. A handle is a token of generation, slot and kind, never an
// address, so that a freed or invalid one is detected.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace capi {

enum class Kind : std::uintptr_t {
  none = 0,
  tensor = 1,
  dict = 2,
  keys = 3,
  writer = 4,
  tensorclass = 5,
  map_iter = 6,
  future = 7,
  module = 8,
  optimizer = 9,
  loader = 10,
  generator = 11,
  replay = 12,
  hdf5 = 13,
  group = 14,
  store = 15,
  dataset = 16,
  dataset_writer = 17,
};

// Free slots that a thread keeps for itself, so that opening and freeing need no atomic exchange. The end of
// the thread returns them to the table. The struct has no destructor, because other thread-locals may free
// handles after it would have run.
struct Pocket {
  static constexpr std::uint32_t capacity = 16;
  std::int32_t count = -1;  // -1: never used, -2: the thread is ending
  std::uint32_t slots[capacity] = {};
};

// A slot holds one pointer that owns a reference; the kind says to what. Slots are never freed, so that
// reading a stale one is defined. A look-up takes no lock. Freeing a handle while another thread frees or
// uses it is a race of the callers.
//
// token: generation (32 bits) | slot (27) | kind (5)
class HandleTable {
 public:
  // Constant-initialized and never destroyed: a program may free handles while it exits.
  static HandleTable& instance() noexcept { return table_; }

  // Returns the object of a token, or nullptr.
  void* find(std::uintptr_t token, Kind kind) const noexcept {
    return object_in(const_cast<HandleTable*>(this)->slot_at(index_of(token)), token, kind);
  }

  static constexpr std::uint32_t no_slot = 0xFFFFFFFF;
  static constexpr unsigned kind_bits = 5;
  static constexpr std::uintptr_t kind_mask = (1U << kind_bits) - 1;
  static constexpr std::uint32_t last_index = 0xFFFFFFFF >> kind_bits;

  // Takes a free slot, for open() or give_free(). Throws std::bad_alloc if there is no memory for more.
  std::uint32_t take() {
    Pocket& pocket = pocket_;
    return pocket.count > 0 ? pocket.slots[--pocket.count] : take_slot();
  }

  // Gives back a slot that was not opened. Not to the pocket: beginning one takes memory, and the call may have
  // failed for want of it.
  void give_free(std::uint32_t index) noexcept;

  // Returns a new token for a slot that was taken. Takes ownership of the object.
  std::uintptr_t open(std::uint32_t index, void* object, Kind kind) noexcept {
    Slot* slot = slot_at(index);
    // Generations begin at 1, so that a token is never a small number or 0.
    std::uint64_t generation =
        ((slot->tag.load(std::memory_order_relaxed) >> kind_bits) + 1) & 0xFFFFFFFF;
    if (generation == 0) generation = 1;
    slot->object.store(object, std::memory_order_release);
    slot->tag.store(generation << kind_bits | static_cast<std::uint64_t>(kind),
                    std::memory_order_release);
    return static_cast<std::uintptr_t>(generation << 32 | std::uint64_t{index} << kind_bits |
                                       static_cast<std::uint64_t>(kind));
  }

  // Removes the object and returns it; nullptr if the token is stale or of another kind.
  void* close(std::uintptr_t token, Kind kind) noexcept {
    const std::uint32_t index = index_of(token);
    Slot* slot = slot_at(index);
    void* object = object_in(slot, token, kind);
    if (object == nullptr) return nullptr;
    // The next open() advances the generation. Kind 0 marks a free slot.
    slot->tag.store((token >> 32) << kind_bits, std::memory_order_release);
    Pocket& pocket = pocket_;
    if (static_cast<std::uint32_t>(pocket.count) < Pocket::capacity) {
      pocket.slots[pocket.count++] = index;
    } else {
      give_slot(index);
    }
    return object;
  }

  // Counts the open slots by looking at each: open() and close() keep no count.
  std::int64_t live() const noexcept;

 private:
  constexpr HandleTable() = default;

  struct Slot {
    std::atomic<void*> object{nullptr};
    std::atomic<std::uint64_t> tag{0};   // generation << kind_bits | kind; kind 0 while free
    std::atomic<std::uint32_t> next{0};  // free list
  };
  static constexpr std::size_t first_bits =
      10;  // 1024 slots in the first block; each block doubles
  static constexpr std::size_t blocks = 18;

  static void* object_in(const Slot* slot, std::uintptr_t token, Kind kind) noexcept {
    if (slot == nullptr || (token & kind_mask) != static_cast<std::uintptr_t>(kind)) return nullptr;
    void* object = slot->object.load(std::memory_order_acquire);
    return slot->tag.load(std::memory_order_acquire) == tag_of(token, kind) ? object : nullptr;
  }
  static std::uint64_t tag_of(std::uintptr_t token, Kind kind) noexcept {
    return (token >> 32) << kind_bits | static_cast<std::uint64_t>(kind);
  }
  static std::uint32_t index_of(std::uintptr_t token) noexcept {
    return static_cast<std::uint32_t>(token >> kind_bits) & last_index;
  }
  Slot* slot_at(std::uint32_t index) noexcept {
    if (index < (1U << first_bits)) {
      Slot* slots = block_[0].load(std::memory_order_acquire);
      return slots == nullptr ? nullptr : slots + index;
    }
    return far_slot(index);
  }
  Slot* far_slot(std::uint32_t index) noexcept;
  std::uint32_t take_slot();                     // free or new
  void give_slot(std::uint32_t index) noexcept;  // to the pocket if this thread has not used it yet
  std::uint32_t take_free() noexcept;
  std::uint32_t grow();

  struct PocketEnd;
  static inline thread_local Pocket pocket_;
  static HandleTable table_;

  std::atomic<Slot*> block_[blocks] = {};
  // Head of the free list (lower half), and a counter against ABA.
  std::atomic<std::uint64_t> free_{no_slot};
  std::atomic<std::uint32_t> used_{0};  // slots that were used at least once
};

}  // namespace capi
