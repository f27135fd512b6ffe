// core/tree/names.h: names of batch dimensions. Results take them over by BatchOp::tags and copy_tags.
#pragma once

#include "core/tree/changes.h"
#include "core/tree/tensordict.h"

#include <string>
#include <utility>
#include <vector>

namespace td {

// One for each batch dimension, as Names has them, or none at all. Of a lazy stack those of its
// elements and that of the stack, of a sub-tensordict those that its index leaves of the parent's.
Names names_of(const Node& node);

// The names of the leading dimensions of nested dictionaries follow, further ones of theirs stay. No
// names at all, or none that is set, takes away all names, also those of nested dictionaries. Throws
// Code::invalid_argument for a wrong number of names and for one that stands twice.
void set_names(const TensorDict& td, Names names);

// Gives dimensions that have the names `from` those of `to` instead; as many of each.
void rename_names(const TensorDict& td, const Names& from, const Names& to);

// Names dimensions that have no name; a name that is there may only be repeated. "..." stands for as
// many dimensions as needed, which stay as they are.
void refine_names(const TensorDict& td, Names names);

// As set_names(), for names that are checked already.
void plan_names(Changes& changes, const NodePtr& root, Names leading);

// A dictionary that is about to be put into `holder`. When the holder has names, the leading names of
// the dictionary must agree with them where both are set; a copy that has them all is given back when
// any is missing. When it has none, it will take over those of the dictionary.
NodePtr fit_names(Changes& changes, const DenseNode& holder, Path path, NodePtr node);

// Another batch size; the names of its leading dimensions stay.
void plan_batch(Changes& changes, const Node& node, SizesView batch);

// "[time, None]", for messages.
std::string show_names(const Names& names, std::size_t dims);

}  // namespace td
