// core/loader/batch_pool.h: reuses the memory of released batches.
#pragma once

#include "core/loader/row_source.h"
#include "core/tree/dense_node.h"

#include <memory>
#include <mutex>
#include <vector>

namespace td {

// A batch and the memory of its fields. The thread that fills it owns it.
class PooledBatch {
 public:
  PooledBatch(std::shared_ptr<const RowSource> source, SizesView front);

  TensorDict dict() const { return TensorDict(root_); }
  c10::ArrayRef<char*> targets() const noexcept { return targets_; }

  bool is_of(const RowSource& source) const noexcept { return source_.get() == &source; }
  // Also compares the sizes.
  bool fits(const RowSource& source, SizesView front) const noexcept;

  // Reclaims the batch, and undoes changes to its dictionary. False while the dictionary, a tensor of it or
  // its memory has another holder.
  bool take_back();

 private:
  struct NodeForm {
    const DenseNode* node;
    const Schema* schema;
    Sizes batch;
    std::optional<c10::Device> device;
  };
  struct Slot {
    const DenseNode* holder;
    std::size_t entry;
    const void* expected;  // the tensor or node at this entry
  };

  struct Notes;
  void note_form();
  bool untouched() const noexcept;
  bool alone(std::size_t holders) const noexcept;

  std::shared_ptr<const RowSource> source_;
  Sizes front_;
  std::vector<at::Tensor> leaves_;
  std::vector<Sizes> sizes_;  // of the leaves
  std::vector<char*> targets_;
  NodePtr root_;
  std::vector<NodeForm> nodes_;
  std::vector<Slot> slots_;
};

// Thread-safe.
class BatchPool {
 public:
  explicit BatchPool(std::size_t capacity) : capacity_(capacity) {}

  std::shared_ptr<PooledBatch> take(const std::shared_ptr<const RowSource>& source,
                                    SizesView front);

  // Returns a filled batch to the pool, which checks for other holders only under its lock.
  void give(std::shared_ptr<PooledBatch>& batch);

 private:
  std::mutex mutex_;
  std::size_t capacity_;
  std::vector<std::shared_ptr<PooledBatch>> batches_;
  std::size_t oldest_ = 0;
};

}  // namespace td
