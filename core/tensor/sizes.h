// core/tensor/sizes.h: sizes and growing paths in libtorch's containers.
#pragma once

#include "core/base/sizes.h"

#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <string_view>

namespace td {

using Sizes = c10::SmallVector<std::int64_t, 5>;
using SizesView = c10::IntArrayRef;

// A path that grows and shrinks while a tree is walked.
using PathBuffer = c10::SmallVector<std::string_view, 6>;

}  // namespace td
