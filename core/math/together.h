// core/math/together.h: small leaves computed in one call of libtorch.
#pragma once

#include "core/math/math_kernels.h"
#include "core/math/operands.h"
#include "core/tensor/writes.h"

namespace td::math {

// libtorch needs a microsecond for each call, however small the tensor is. Small leaves of one dtype are copied into one
// buffer, computed there, and given back as parts of one result. Only for operations that round each element by
// itself, so that the bits are those of a call for each leaf.
class Together {
 public:
  // A larger leaf is computed alone. Together they fill buffers of at most `buffer_bytes`: a leaf that is kept keeps no
  // more than that alive.
  static constexpr std::size_t leaf_bytes = 16 * 1024, buffer_bytes = 64 * 1024;

  // Computes what can be; does nothing while gradients are recorded or a mode of libtorch is on. `rules` are those of the
  // walk that asks for the results.
  Together(const Kernel& kernel, const Operands& operands, const WalkRules& rules);

  // The result for a leaf, in the order of the walk; undefined: it has to be computed alone.
  at::Tensor take(const at::Tensor& leaf) const;

 private:
  struct Made {
    at::Tensor leaf, result;
  };
  std::vector<Made> made_;
  mutable std::size_t next_ = 0;
};

// Performs those writes of an in-place operation that can be done together: which of them. Empty: none. `writes` are
// prepared.
std::vector<bool> written_together(const Kernel& kernel, const Extra& extra, Writes& writes);

}  // namespace td::math
