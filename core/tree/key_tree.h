// core/tree/key_tree.h: a list of paths as a tree: which names are asked for at each level, in their order.
#pragma once

#include "core/tensor/sizes.h"
#include "core/tree/schema.h"

#include <c10/util/intrusive_ptr.h>

#include <vector>

namespace td {

// Each name is hashed once. Level 0 is that of the root.
class KeyTree {
 public:
  // Throws Code::key_invalid.
  explicit KeyTree(c10::ArrayRef<Path> paths);

  struct Entry {
    std::uint32_t deeper = 0;  // the level below the name; 0: nothing there is asked for
    bool whole = false;        // the name itself is asked for
  };
  struct Level {
    SchemaPtr names;
    c10::SmallVector<Entry, 6> entries;  // one for each name
    std::uint32_t above = 0;             // the level that this one is below,
    std::size_t position = 0;            // and of which name
  };

  const Level& operator[](std::uint32_t level) const { return levels_[level]; }

  // The names from the root to an entry, for messages.
  PathBuffer path(std::uint32_t level, std::size_t position) const;

 private:
  std::vector<Level> levels_;
};

}  // namespace td
