// core/tensorclass/tensorclass.h: makes, marks and checks tensorclasses.
#pragma once

#include "core/tree/tensorclass.h"
#include "core/tree/tensordict.h"

#include <optional>

namespace td {

// Throws, naming the field, if a dictionary does not match the type.
void check_tensorclass(const TensorclassTypePtr& type, const TensorDict& td);

// A new tensorclass: defaults, zeros if dtype and feature sizes are known, no optional fields.
TensorDict make_tensorclass(const TensorclassTypePtr& type, SizesView batch,
                            std::optional<c10::Device> device);

// Turns a dictionary into a tensorclass in place: adds defaults, converts tensors if the type says so, marks
// nested tensorclasses. Keeps the pickle of a loaded tensorclass. A null type removes all marks and the
// pickle.
void mark_tensorclass(const TensorclassTypePtr& type, const TensorDict& td);

}  // namespace td
