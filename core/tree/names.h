// core/tree/names.h: names of batch dimensions. Results inherit them through BatchOp::tags and copy_tags.
#pragma once

#include "core/tree/changes.h"
#include "core/tree/tensordict.h"

#include <string>
#include <utility>
#include <vector>

namespace td {

// A lazy stack combines its elements' names with its own; a sub-tensordict derives them from the parent's by
// its index. May be empty.
Names names_of(const Node& node);

// Nested dictionaries take the names of their leading dimensions, and keep further ones. Without any name
// set, removes all names, including nested ones. Throws Code::invalid_argument for a wrong number of names or
// a repeated one.
void set_names(const TensorDict& td, Names names);

// Renames the dimensions `from` to `to`, which have the same length.
void rename_names(const TensorDict& td, const Names& from, const Names& to);

// Names unnamed dimensions; existing names may only be repeated. "..." skips any number of dimensions.
void refine_names(const TensorDict& td, Names names);

// set_names() for checked names.
void plan_names(Changes& changes, const NodePtr& root, Names leading);

// Fits a dictionary into `holder`. Names that both have must agree; returns a copy if the dictionary lacks a
// name of the holder. A holder without names takes those of the dictionary.
NodePtr fit_names(Changes& changes, const DenseNode& holder, Path path, NodePtr node);

// Changes the batch size; the names of its leading dimensions stay.
void plan_batch(Changes& changes, const Node& node, SizesView batch);

// "[time, None]", for messages.
std::string show_names(const Names& names, std::size_t dims);

}  // namespace td
