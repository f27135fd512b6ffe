#include "core/inspect/owned_nbytes.h"

#include "core/tensor/ownership.h"
#include "core/tree/kept.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/traverse.h"

#include <unordered_map>

namespace td {

namespace {

// Sums storages held only by these tensors: one counts once all its holders have been seen.
class OwnedStorages {
 public:
  // `pooled`: the tensors also belong to a pool's batch.
  explicit OwnedStorages(bool pooled = false) : pooled_(pooled) {}

  void add(const at::Tensor& tensor) {
    if (tensor.use_count() != 1 && !(pooled_ && kept_by_pool(tensor))) return;
    const c10::Storage& storage = tensor.unsafeGetTensorImpl()->unsafe_storage();
    if (!storage) return;
    const std::size_t holders = storage.use_count();
    const bool all = holders == 1 || ++met_[storage.unsafeGetStorageImpl()] == holders;
    if (all && allocated(storage)) bytes_ += storage.nbytes();
  }

  std::size_t bytes() const noexcept { return bytes_; }

  // Whether only a dictionary and a pool hold the tensor.
  static bool kept_by_pool(const at::Tensor& tensor) {
    return tensor.use_count() == 2 && is_pooled(tensor);
  }

 private:
  // Lent memory has no allocator, and the meta device has no memory.
  static bool allocated(const c10::Storage& storage) {
    return storage.allocator() != nullptr && storage.device_type() != c10::DeviceType::Meta;
  }

  bool pooled_;
  std::unordered_map<const c10::StorageImpl*, std::size_t> met_;  // holders of shared ones
  std::size_t bytes_ = 0;
};

// A pool keeps all tensors of a dictionary, so one leaf tells.
bool kept_by_pool(const NodePtr& root) {
  const at::Tensor* tensor = any_leaf(root);
  return tensor != nullptr && OwnedStorages::kept_by_pool(*tensor);
}

}  // namespace

std::size_t owned_nbytes(const at::Tensor& tensor) {
  OwnedStorages owned;
  owned.add(tensor);
  return owned.bytes();
}

// Leaves out nodes with other holders, and what is reached through them only.
std::size_t owned_nbytes(const TensorDict& td) {
  const Node* const root = td.node().get();
  const bool pooled = holders_of(*root) == 2 && kept_by_pool(td.node());
  OwnedStorages owned(pooled);
  visit_nodes(td.node(), [&](const Node& node) -> Go {
    if (holders_of(node) != 1 && !(pooled && &node == root)) return Go::past;
    for_each_kept(node, [&](const at::Tensor& tensor) { owned.add(tensor); });
    return Go::on;
  });
  return owned.bytes();
}

}  // namespace td
