// td/assign.h: writing the values of one tensor into another.
#pragma once

#include "td/node.h"

namespace td {

// Whether a tensor of sizes `from` can be broadcast to sizes `to`.
bool broadcasts(SizesView from, SizesView to) noexcept;

// target.copy_(source): dtype and device of the target are kept, values are broadcast. The caller has
// made sure that they can be. A tensor written onto itself stays as it is; overlapping memory is
// copied first.
void assign(const at::Tensor& target, const at::Tensor& source, bool fast);

// A dense copy in new memory.
at::Tensor copy_of(const at::Tensor& tensor, bool fast);

}  // namespace td
