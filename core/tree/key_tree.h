// core/tree/key_tree.h: a list of paths as a tree of requested names.
#pragma once

#include "core/tensor/sizes.h"
#include "core/tree/schema.h"

#include <c10/util/SmallVector.h>
#include <c10/util/intrusive_ptr.h>

namespace td {

// Hashes each name once. Level 0 belongs to the root.
class KeyTree {
 public:
  // Throws Code::key_invalid.
  explicit KeyTree(c10::ArrayRef<Path> paths);

  struct Entry {
    std::uint32_t deeper = 0;  // the level below the name; 0: no requests there
    bool whole = false;        // the name itself is requested
  };
  struct Level {
    SchemaPtr names;
    c10::SmallVector<Entry, 6> entries;  // one for each name
    std::uint32_t above = 0;             // index of the parent level
    std::size_t position = 0;            // of this level's name in the parent
  };

  const Level& operator[](std::uint32_t level) const { return levels_[level]; }

  // The path of an entry, for messages.
  PathBuffer path(std::uint32_t level, std::size_t position) const;

 private:
  c10::SmallVector<Level, 2> levels_;
};

}  // namespace td
