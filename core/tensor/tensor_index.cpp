#include "core/tensor/tensor_index.h"

#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/writes.h"

namespace td {

at::Tensor without_leading_ones(at::Tensor source, std::size_t dims) {
  while (source.dim() > static_cast<std::int64_t>(dims) && source.size(0) == 1)
    source = source.squeeze(0);
  return source;
}

at::Tensor tensor_index(const at::Tensor& tensor, c10::ArrayRef<IndexItem> items) {
  const IndexPlan plan(items, tensor.sizes());
  return plan.is_whole() ? tensor : plan.read(tensor, fast::can_skip_dispatcher());
}

void tensor_set_at(const at::Tensor& tensor, c10::ArrayRef<IndexItem> items,
                   const at::Tensor& value) {
  IndexPlan plan(items, tensor.sizes());
  const Sizes part = plan.sizes(tensor.sizes());
  const at::Tensor source = without_leading_ones(value, part.size());
  if (!broadcasts(source.sizes(), part)) {
    fail(Code::shape, "cannot write shape ", show_sizes(value.sizes()), " into a part of shape ",
         show_sizes(part));
  }
  Writes write;
  write.set(std::string_view("the tensor"), tensor, source, &plan);
  write.run();
}

}  // namespace td
