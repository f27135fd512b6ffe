#include "core/tensor/ownership.h"

#include "core/tensor/buffer.h"
#include "core/tensor/foreign.h"
#include "core/tensor/mapped_tensor.h"

#include <memory>
#include <utility>

namespace td {

namespace {

// The deleter is the mark.
void free_pooled(void* memory) { delete static_cast<c10::DataPtr*>(memory); }

}  // namespace

void mark_pooled(const at::Tensor& tensor) {
  const c10::Storage storage = tensor.storage();
  auto memory = std::make_unique<c10::DataPtr>();
  void* const data = storage.data_ptr().get();
  c10::DataPtr marked(data, memory.get(), &free_pooled, storage.device());
  c10::DataPtr* const inner = memory.release();  // `marked` owns it now
  *inner = storage.set_data_ptr(std::move(marked));
}

bool is_pooled(const at::Tensor& tensor) noexcept {
  return tensor.has_storage() && tensor.storage().data_ptr().get_deleter() == &free_pooled;
}

bool in_mapping(const at::Tensor& tensor) noexcept {
  return mapping_of(tensor) != nullptr || Buffer::over_mapping(tensor);
}

bool solely_owned(const at::Tensor& tensor, std::size_t held) noexcept {
  return uniquely_owned(tensor, held) && !in_mapping(tensor);
}

}  // namespace td
