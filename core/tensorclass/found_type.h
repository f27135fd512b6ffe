// core/tensorclass/found_type.h: the type of a tensorclass that was read from a file.
#pragma once

#include "core/tree/tensorclass.h"

#include <string>
#include <vector>

namespace td {

// A type with the fields that the dictionary has, all optional, and those of `more`, without a value. Throws Code::format;
// `where` begins the message.
TensorclassTypePtr found_type(const std::string& name, const NodePtr& tensorclass,
                              const std::vector<std::string>& more, PickledPtr pickled,
                              const std::string& where);

}  // namespace td
