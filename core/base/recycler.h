// core/base/recycler.h: blocks of one size, reused by the thread that freed them.
// A view of ten leaves makes and frees a dozen small objects of two sizes. malloc caches seven of a size;
// each one beyond that costs as much as the rest of the view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace td {

namespace detail {

struct Block {
  Block* next;
};

// Has no destructor: other thread-locals may still free objects when the thread ends.
struct RecyclerList {
  Block* head = nullptr;
  std::int32_t room = -1;  // blocks that may still be kept; -1 before the first
};

}  // namespace detail

template <std::size_t bytes>
class Recycler {
 public:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // Sanitizers must see each allocation.
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
    if (list.room <= 0) return give_rarely(memory);
    auto* block = static_cast<detail::Block*>(memory);
    block->next = list.head;
    list.head = block;
    --list.room;
  }

 private:
  static_assert(bytes >= sizeof(void*));
  static constexpr std::int32_t capacity = 8192;  // blocks kept by a thread

  static inline thread_local detail::RecyclerList list;

  // Frees all blocks when the thread ends.
  struct End {
    ~End() {
      while (list.head != nullptr) ::operator delete(take());
      list.room = 0;  // later blocks go to the system
    }
  };

  // The first block of a thread, and those that are too many. Not inlined: then give() looks up the list once,
  // which in a shared library is a call.
  [[gnu::noinline]] static void give_rarely(void* memory) noexcept {
    if (list.room == 0) return ::operator delete(memory);
    static thread_local const End end;
    (void)&end;
    list.room = capacity;
    give(memory);
  }
#endif
};

}  // namespace td
