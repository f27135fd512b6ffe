// core/io/fork.h: protects resources of a parent process from its children.
#pragma once

namespace td::files {

// The number of forks from the first process to this one: differs in each child.
unsigned forks() noexcept;

// Remembers the process that created an object, so that a child neither finishes nor removes the parent's
// work.
class Origin {
 public:
  Origin() noexcept : forks_(forks()) {}
  bool is_here() const noexcept { return forks_ == forks(); }

 private:
  unsigned forks_;
};

// Closes a descriptor in each child. A child shares the open file and its lock, which would last until the
// last child ends.
void close_in_children(int descriptor);
void forget_in_children(int descriptor) noexcept;

}  // namespace td::files
