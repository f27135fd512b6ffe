// core/flat/flat_tree.h: converts a dictionary to a list of tensors with joined names, as most files have
// it, and back.
#pragma once

#include "core/flat/file_options.h"
#include "core/formats/flat_extras.h"

#include <string>
#include <vector>

namespace td {

struct FlatLeaf {
  std::string name;  // names of the path, joined
  OwnedPath path;
  at::Tensor tensor;
};

struct FlatTree {
  std::vector<FlatLeaf> leaves;  // in key order
  FlatExtras extras;
};

// Lists the tensors; reads lazy stacks. Throws Code::key_exists if two paths have the same joined name,
// Code::unsupported and Code::device for tensors without plain values.
FlatTree flatten(const TensorDict& td, const FileOptions& options);

// For formats without non-tensor values: throws if there are any.
void require_tensors_only(const FlatTree& tree, const char* format);

// How many names of a path exist. The others would be created.
std::size_t levels_there(const Node& root, Path path);

OwnedPath split_name(std::string_view name, const FileOptions& options);

// Puts tensors into dictionaries by path. The batch size comes from the options or the extras; otherwise it
// is empty. Code::key_exists if entries clash, Code::shape if the batch does not fit, Code::format for too
// many entries or levels.
TensorDict build_tree(const std::vector<FlatLeaf>& leaves, const FlatExtras* extras,
                      const FileOptions& options, const std::string& where);

}  // namespace td
