// modules/arrow/limited_pool.h: bounds the memory for reading a file. A few bytes of a file may ask for any
// amount.
#pragma once

#include <arrow/memory_pool.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace arrow_module {

// Outlives its holder while allocations remain: columns outlive their reader.
class LimitedPool final : public arrow::MemoryPool {
 public:
  struct Drop {
    void operator()(LimitedPool *pool) const noexcept { pool->drop(); }
  };
  using Holder = std::unique_ptr<LimitedPool, Drop>;
  static Holder make(std::int64_t limit) { return Holder(new LimitedPool(limit)); }

  using MemoryPool::Allocate;
  using MemoryPool::Free;
  using MemoryPool::Reallocate;
  arrow::Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t **out) override;
  arrow::Status Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                           std::uint8_t **memory) override;
  void Free(std::uint8_t *memory, std::int64_t size, std::int64_t alignment) override;
  std::int64_t bytes_allocated() const override { return bytes_; }
  std::int64_t total_bytes_allocated() const override { return total_; }
  std::int64_t num_allocations() const override { return count_; }
  std::string backend_name() const override { return below_->backend_name(); }

  std::int64_t limit() const noexcept { return limit_; }
  bool refused() const noexcept { return refused_; }  // whether an allocation was ever refused

 private:
  explicit LimitedPool(std::int64_t limit) noexcept : limit_(limit) {}
  arrow::Status take(std::int64_t bytes);
  void drop() noexcept {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  arrow::MemoryPool *below_ = arrow::default_memory_pool();
  const std::int64_t limit_;
  std::atomic<std::int64_t> bytes_{0}, total_{0}, count_{0};
  std::atomic<std::int64_t> users_{1};
  std::atomic<bool> refused_{false};
};

}  // namespace arrow_module
