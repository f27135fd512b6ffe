#include "core/tensor/known_sizes.h"

#include "core/base/error.h"

namespace td {

void fail_uneven(c10::IntArrayRef batch, std::size_t dim) {
  fail(Code::shape, "batch size ", batch,
       ": the elements of the lazy stack differ along dimension ", dim);
}

}  // namespace td
