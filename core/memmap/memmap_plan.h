// core/memmap/memmap_plan.h: plans and checks a save before the first byte is written.
#pragma once

#include "core/io/file_io.h"
#include "core/memmap/memmap.h"
#include "core/tree/nested_tensor.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace td {

enum class Content { values, zeros };

struct SavePlan {
  enum class FolderUse {
    entries,
    empty,     // a dictionary without entries
    numbered,  // a lazy stack: numbered folders are its elements
  };
  struct Folder {
    std::string path;
    std::string meta;  // text of its meta.json
    FolderUse use = FolderUse::entries;
    files::Look old = {};  // the existing meta.json
  };
  struct File {
    std::string path;
    std::shared_ptr<const std::string> content;
  };
  enum class Action {
    write,  // into a new file, or anonymous memory
    keep,   // already mapped from there
    empty,  // no elements, no file
  };
  struct Leaf {
    at::Tensor source;
    std::string path;  // empty: anonymous memory
    std::size_t bytes;
    Action action;
    DenseNode* target;  // its place in the result
    std::size_t slot;
    NestedTensorNode* nested_tensor = nullptr;  // instead of the target, to receive these values
    bool is_table = false;                      // sizes of a nested tensor, which already has them
    files::Look old = {};                       // the existing file

    void put(at::Tensor tensor) const {
      if (nested_tensor != nullptr) {
        nested_tensor->set_tensors(std::move(tensor), nested_tensor->sizes());
      } else if (!is_table) {
        target->set_value(slot, std::move(tensor));
      }
    }
  };

  NodePtr result;               // complete except for the leaves
  std::vector<Folder> folders;  // parents first; empty for anonymous memory
  std::vector<Leaf> leaves;
  std::vector<File> files;  // files other than leaves
};

// `dir` is absolute, or empty for anonymous memory. `exists`: there is such a folder, which is locked.
SavePlan plan_save(const NodePtr& root, const std::string& dir, bool exists,
                   const MemmapOptions& options, Content content);

// The files of an archive: their paths start with '/' and do not exist on disk.
SavePlan plan_archive(const NodePtr& root, const MemmapOptions& options, Content content);

}  // namespace td
