// core/base/recycler.h: memory of one size, handed out again by the thread that freed it.
//
// A view of ten leaves makes and frees a dozen small objects of two sizes. malloc's own cache keeps
// seven of a size; beyond that each costs as much as the rest of the view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace td {

namespace detail {

struct Block {
  Block* next;
};

// Needs no destructor: other thread-locals may still free objects after this one's end.
struct RecyclerList {
  Block* head = nullptr;
  std::int32_t room = -1;  // blocks that may still be kept; -1 before the first
};

}  // namespace detail

template <std::size_t bytes>
class Recycler {
 public:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // A sanitizer must see every birth and death.
  static void* take() { return ::operator new(bytes); }
  static void give(void* block) noexcept { ::operator delete(block); }
#else
  static void* take() {
    detail::Block* block = list.head;
    if (block == nullptr) return ::operator new(bytes);
    list.head = block->next;
    ++list.room;
    return block;
  }

  static void give(void* memory) noexcept {
    if (list.room < 0) begin();
    if (list.room == 0) {
      ::operator delete(memory);
      return;
    }
    auto* block = static_cast<detail::Block*>(memory);
    block->next = list.head;
    list.head = block;
    --list.room;
  }

 private:
  static_assert(bytes >= sizeof(void*));
  static constexpr std::int32_t capacity = 8192;  // blocks kept by a thread

  static inline thread_local detail::RecyclerList list;

  // Gives everything back when the thread ends.
  struct End {
    ~End() {
      while (list.head != nullptr) ::operator delete(take());
      list.room = 0;  // what is freed from now on goes to the system
    }
  };

  static void begin() noexcept {
    static thread_local const End end;
    (void)&end;
    list.room = capacity;
  }
#endif
};

}  // namespace td
