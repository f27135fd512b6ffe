// What saving a dictionary will do, worked out and checked before the first byte is written.
#pragma once

#include "td/memmap.h"

#include <cstddef>
#include <string>
#include <vector>

namespace td {

enum class Content { values, zeros };

struct SavePlan {
  struct Folder {
    std::string path;
    std::string meta;  // text of its meta.json
  };
  enum class Action {
    write,  // into a file, or nameless memory, of its own
    keep,   // it is mapped from there already
    empty,  // no elements: no file
  };
  struct Leaf {
    at::Tensor source;
    std::string path;  // empty: nameless memory
    std::size_t bytes;
    Action action;
    DenseNode* target;  // its place in the result
    std::size_t slot;
  };

  NodePtr result;               // complete but for the leaves
  std::vector<Folder> folders;  // a folder before those inside it; none for nameless memory
  std::vector<Leaf> leaves;
  std::vector<std::string> stale;  // folders that go when all else is in its place
};

// `dir` is absolute, or empty for nameless memory.
SavePlan plan_save(const NodePtr& root, const std::string& dir, const MemmapOptions& options,
                   Content content);

}  // namespace td
