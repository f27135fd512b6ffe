// core/memmap/tensorclass_plan.h: what a tensorclass has in its folder around its dictionary.
#pragma once

#include "core/tree/tensorclass.h"

#include <string>

namespace td {

struct TensorclassPlan {
  std::string meta;  // text of the meta.json
  PickledPtr
      pickled;  // whose file goes beside it, and whose values are then not stored a second time
};

// Code::unsupported when fields that cannot be read would be lost.
TensorclassPlan plan_tensorclass(const Node& tensorclass);

// Whether an entry is the value of a field, the same for all elements of the batch.
bool holds(const Value& value, const format::Field& field);

// Whether the fields still are what they were when they were read.
bool unchanged(const Node& tensorclass, const PickledFields& pickled);

}  // namespace td
