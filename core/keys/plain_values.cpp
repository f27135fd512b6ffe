#include "core/keys/plain_values.h"

#include "core/base/error.h"
#include "core/tensor/foreign.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/paths.h"

#include <ATen/ATen.h>

namespace td {

namespace {

c10::Scalar item_of(const TensorDict& td, Path path) {
  const at::Tensor tensor = td.get(path);
  if (tensor.numel() != 1) {
    fail(Code::shape, show_path(path), " has ", tensor.numel(), " elements, not one");
  }
  if (tensor.is_complex()) fail(Code::dtype, show_path(path), " is a complex number");
  return tensor.item();
}

}  // namespace

void copy_entry_out(const TensorDict& td, Path path, c10::ScalarType dtype, void* data,
                    std::size_t bytes) {
  const at::Tensor tensor = td.get(path);
  if (tensor.scalar_type() != dtype) {
    fail(Code::dtype, show_path(path), " is of ", tensor.scalar_type(), ", requested ", dtype);
  }
  copy_out(tensor, data, bytes);
}

void set_number(const TensorDict& td, Path path, c10::Scalar number, c10::ScalarType dtype) {
  const c10::Device device = td.device().value_or(c10::Device(c10::kCPU));
  TensorDict target = td;
  target.set(path, at::full(td.batch_size(), number, at::TensorOptions(dtype).device(device)));
}

std::int64_t integer_of(const TensorDict& td, Path path) {
  const c10::Scalar item = item_of(td, path);
  if (item.isFloatingPoint()) fail(Code::dtype, show_path(path), " is a floating-point number");
  return item.toLong();
}

double real_of(const TensorDict& td, Path path) { return item_of(td, path).toDouble(); }

c10::ScalarType entry_dtype(const TensorDict& td, Path path) {
  const Value* stored = find_stored(td.node(), path);
  const Value value = stored != nullptr ? *stored : find_entry(td.node(), path);
  const at::Tensor* elements = elements_of(value);
  if (elements == nullptr) fail_kind(path, value, "tensor");
  return elements->scalar_type();
}

}  // namespace td
