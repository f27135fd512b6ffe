#include "limited_pool.h"

#include <arrow/status.h>

namespace arrow_module {

arrow::Status LimitedPool::take(std::int64_t bytes) {
  ++count_;
  std::int64_t before = bytes_;
  do {
    if (bytes > limit_ - before) {
      refused_ = true;
      return arrow::Status::OutOfMemory("more than ", limit_, " bytes");
    }
  } while (!bytes_.compare_exchange_weak(before, before + bytes));
  if (bytes > 0) total_ += bytes;
  return arrow::Status::OK();
}

arrow::Status LimitedPool::Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t **out) {
  ARROW_RETURN_NOT_OK(take(size));
  arrow::Status status = below_->Allocate(size, alignment, out);
  if (status.ok()) {
    ++users_;
  } else {
    bytes_ -= size;
  }
  return status;
}

arrow::Status LimitedPool::Reallocate(std::int64_t old_size, std::int64_t new_size,
                                      std::int64_t alignment, std::uint8_t **memory) {
  ARROW_RETURN_NOT_OK(take(new_size - old_size));
  arrow::Status status = below_->Reallocate(old_size, new_size, alignment, memory);
  if (!status.ok()) bytes_ -= new_size - old_size;
  return status;
}

void LimitedPool::Free(std::uint8_t *memory, std::int64_t size, std::int64_t alignment) {
  below_->Free(memory, size, alignment);
  bytes_ -= size;
  drop();
}

}  // namespace arrow_module
