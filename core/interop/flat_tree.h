// core/interop/flat_tree.h: a dictionary as a list of tensors with joined names, as most files have it, and back.
#pragma once

#include "core/formats/flat_extras.h"
#include "core/interop/other_files.h"

#include <string>
#include <vector>

namespace td {

struct FlatLeaf {
  std::string name;  // the names of the path, joined
  OwnedPath path;
  at::Tensor tensor;
};

struct FlatTree {
  std::vector<FlatLeaf> leaves;  // in the order of the keys
  FlatExtras extras;
};

// Takes a dictionary apart. Lazy stacks are read out. Throws Code::key_exists when two paths have the
// same joined name, Code::unsupported and Code::device for what has no plain values.
FlatTree flatten(const TensorDict& td, const FileOptions& options);

// For formats that hold tensors alone: refuses non-tensor values.
void require_tensors_only(const FlatTree& tree, const char* format);

// How many names of a path lead to what is there. The others are entries that the path would make.
std::size_t levels_there(const Node& root, Path path);

OwnedPath split_name(std::string_view name, const FileOptions& options);

// Puts the tensors, whose paths are given, into dictionaries. The batch size is what the options or the
// extras say; neither gives none. Code::key_exists when an entry is in the way of another, Code::shape
// when the batch does not fit, Code::format for too many entries or levels.
TensorDict build_tree(const std::vector<FlatLeaf>& leaves, const FlatExtras* extras,
                      const FileOptions& options, const std::string& where);

}  // namespace td
