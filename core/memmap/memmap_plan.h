// core/memmap/memmap_plan.h: what saving a dictionary will do, worked out and checked before the first byte is written.
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
    numbered,  // a lazy stack: folders with numbers are its elements
  };
  struct Folder {
    std::string path;
    std::string meta;  // text of its meta.json
    FolderUse use = FolderUse::entries;
    files::Look old = {};  // of the meta.json that is there
  };
  struct File {
    std::string path;
    std::shared_ptr<const std::string> content;
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
    NestedTensorNode* nested_tensor = nullptr;  // in place of the target: these are its values
    bool is_table = false;  // the sizes of a nested tensor, which has them already
    files::Look old = {};   // of the file that is there

    void put(at::Tensor tensor) const {
      if (nested_tensor != nullptr) {
        nested_tensor->set_tensors(std::move(tensor), nested_tensor->sizes());
      } else if (!is_table) {
        target->set_value(slot, std::move(tensor));
      }
    }
  };

  NodePtr result;               // complete but for the leaves
  std::vector<Folder> folders;  // a folder before those inside it; none for nameless memory
  std::vector<Leaf> leaves;
  std::vector<File> files;  // of other content
};

// `dir` is absolute, or empty for nameless memory.
SavePlan plan_save(const NodePtr& root, const std::string& dir, const MemmapOptions& options,
                   Content content);

// The same for the files of an archive: their paths begin with '/' and name nothing on the disk.
SavePlan plan_archive(const NodePtr& root, const MemmapOptions& options, Content content);

}  // namespace td
