// core/memmap/tensorclass_plan.h: plans what a tensorclass stores around its dictionary.
#pragma once

#include "core/tree/tensorclass.h"

#include <string>

namespace td {

struct TensorclassPlan {
  std::string meta;    // text of the meta.json
  PickledPtr pickled;  // copies this pickle; its values are not stored again
};

// Code::unsupported if unreadable fields would be lost.
TensorclassPlan plan_tensorclass(const Node& tensorclass);

// Whether the entry is the field's value, shared by the whole batch.
bool holds(const Value& value, const format::Field& field);

// Whether the fields are unchanged since they were read.
bool unchanged(const Node& tensorclass, const PickledFields& pickled);

}  // namespace td
