#include "core/loader/batch_pool.h"

#include "core/tensor/ownership.h"
#include "core/tree/engine.h"

#include <algorithm>

namespace td {

namespace {

const void* address_of(const Value& value) noexcept {
  if (value.is_node()) return value.node().get();
  return value.tensor().unsafeGetTensorImpl();
}

}  // namespace

PooledBatch::PooledBatch(std::shared_ptr<const RowSource> source, SizesView front)
    : source_(std::move(source)), front_(front.begin(), front.end()) {
  root_ = source_->make_batch(front_, leaves_);
  for (const at::Tensor& leaf : leaves_) {
    mark_pooled(leaf);
    sizes_.emplace_back(leaf.sizes().begin(), leaf.sizes().end());
    targets_.push_back(static_cast<char*>(leaf.data_ptr()));
  }
  note_form();
}

// Records each dictionary and entry.
struct PooledBatch::Notes : WalkSink<Take::whole> {
  PooledBatch& batch;
  explicit Notes(PooledBatch& noting) : batch(noting) {}

  Take meet(const Here& here, NodesHere) {
    if (!here.is_root()) slot(here);
    return Take::whole;
  }
  void enter(const Here&, Dicts dicts) {
    const DenseNode& node = *dicts[0];
    batch.nodes_.push_back(
        {&node, node.schema(), Sizes(node.batch().begin(), node.batch().end()), node.device()});
  }
  void leaf(const Here& here, Tensors) { slot(here); }
  void value(const Here& here, NodesHere) { slot(here); }

 private:
  void slot(const Here& here) {
    batch.slots_.push_back({&here.holder(), here.index(), address_of(here.value())});
  }
};

void PooledBatch::note_form() {
  nodes_.clear();
  slots_.clear();
  Notes notes(*this);
  walk(root_, notes, all_entries());
}

bool PooledBatch::fits(const RowSource& source, SizesView front) const noexcept {
  return is_of(source) && SizesView(front_) == front;
}

// Whether the dictionary is unmodified. Requires that only the pool holds the root; a nested node with
// another holder counts as modified.
bool PooledBatch::untouched() const noexcept {
  for (const Slot& slot : slots_) {
    const DenseNode& holder = *slot.holder;
    if (slot.entry >= holder.size() || !holder.owns_row()) return false;
    const Value& value = holder.value(slot.entry);
    if (address_of(value) != slot.expected) return false;
    if (value.is_node() && value.node().use_count() != 1) return false;
  }
  for (const NodeForm& form : nodes_) {
    const DenseNode& node = *form.node;
    if (node.schema() != form.schema || node.batch() != SizesView(form.batch) ||
        node.device() != form.device || node.locked() || node.tagged() || node.shared() ||
        node.memmapped())
      return false;
  }
  return true;
}

bool PooledBatch::alone(std::size_t holders) const noexcept {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const at::Tensor& leaf = leaves_[i];
    if (leaf.use_count() != holders || leaf.storage().use_count() != 1 || leaf.requires_grad() ||
        leaf.sizes() != SizesView(sizes_[i]) || !leaf.is_contiguous() ||
        leaf.data_ptr() != targets_[i])
      return false;
  }
  return true;
}

bool PooledBatch::take_back() {
  if (root_.defined() && root_.use_count() != 1) return false;
  const bool whole = root_.defined() && untouched();
  if (!whole) root_.reset();
  if (!alone(whole ? 2 : 1)) return false;  // held by this object and by the dictionary
  if (whole) return true;
  root_ = source_->make_batch(front_, leaves_);
  note_form();
  return true;
}

std::shared_ptr<PooledBatch> BatchPool::take(const std::shared_ptr<const RowSource>& source,
                                             SizesView front) {
  const std::lock_guard<std::mutex> hold(mutex_);
  for (std::shared_ptr<PooledBatch>& batch : batches_) {
    if (batch.use_count() == 1 && batch->fits(*source, front) && batch->take_back()) return batch;
  }
  // Drop batches of an earlier epoch, when the folder had fewer rows.
  batches_.erase(std::remove_if(batches_.begin(), batches_.end(),
                                [&](const auto& batch) { return !batch->is_of(*source); }),
                 batches_.end());
  auto made = std::make_shared<PooledBatch>(source, front);
  if (batches_.size() < capacity_) {
    batches_.push_back(made);
  } else {
    batches_[oldest_++ % capacity_] = made;
  }
  return made;
}

void BatchPool::give(std::shared_ptr<PooledBatch>& batch) {
  const std::lock_guard<std::mutex> hold(mutex_);
  batch.reset();
}

}  // namespace td
