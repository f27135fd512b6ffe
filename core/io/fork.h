// core/io/fork.h: what a child process must not touch, though it has a copy of it.
#pragma once

namespace td::files {

// How often this process, or those that it comes from, have forked: another number in each child.
unsigned forks() noexcept;

// Remembers the process that it was made in. What has been made in a parent is the parent's: a child
// finishes nothing of it, and takes nothing away.
class Origin {
 public:
  Origin() noexcept : forks_(forks()) {}
  bool is_here() const noexcept { return forks_ == forks(); }

 private:
  unsigned forks_;
};

// Closes a descriptor in each child. A lock belongs to the open file, which a child shares: it would be
// held until the last child has ended.
void close_in_children(int descriptor);
void forget_in_children(int descriptor) noexcept;

}  // namespace td::files
