#include "core/tree/leaf_row.h"

#include "core/base/recycler.h"
#include "core/tensor/fast_path.h"

#include <utility>

namespace td {

void fail_changed(const at::Tensor& leaf, SizesView batch) {
  fail(Code::shape, "a tensor of shape ", show_sizes(leaf.sizes()),
       " was changed in place since a view was made of it: it no longer begins with batch size ",
       show_sizes(batch), ", or is no plain tensor");
}

void* LeafRow::operator new(std::size_t) { return Recycler<sizeof(LeafRow)>::take(); }
void LeafRow::operator delete(void* memory) { Recycler<sizeof(LeafRow)>::give(memory); }
void* ViewRow::operator new(std::size_t) { return Recycler<sizeof(ViewRow)>::take(); }
void ViewRow::operator delete(void* memory) { Recycler<sizeof(ViewRow)>::give(memory); }

void LeafRow::note(const at::Tensor& leaf) noexcept {
  if (!leaf.defined()) return;
  const bool plain = fast::plain(leaf);
  odd_ = odd_ || !plain;
  strided_ = strided_ || !plain || !leaf.is_contiguous();
}

LeafRowPtr LeafRow::copy() const {
  if (is_view_) static_cast<const ViewRow&>(*this).make_all();
  auto copy = c10::make_intrusive<LeafRow>(shared_schema());
  copy->reserve(values_.size());
  for (const Value& leaf : values_) copy->push(leaf);
  return copy;
}

LeafRowPtr LeafRow::viewed(const LeafViewPtr& view, std::int64_t part, std::size_t leaves) const {
  LeafRowPtr self = LeafRowPtr::reclaim_copy(const_cast<LeafRow*>(this));
  if (is_view_) {
    const auto& own = static_cast<const ViewRow&>(*this);
    {
      const std::lock_guard<std::mutex> hold(own.mutex_);
      if (own.left_ == own.leaves_ && own.leaves_ != 0) {
        if (LeafViewPtr both = view->after(*own.view_, own.part_, part); both.defined())
          return c10::make_intrusive<ViewRow>(own.source_, std::move(both), 0, leaves);
      }
    }
    if (!view->fits(*this)) return {};
    own.make_all();
  } else if (!view->fits(*this)) {
    return {};
  }
  return c10::make_intrusive<ViewRow>(std::move(self), view, part, leaves);
}

ViewRow::ViewRow(LeafRowPtr source, LeafViewPtr view, std::int64_t part, std::size_t leaves)
    : LeafRow(source->names_),
      source_(std::move(source)),
      view_(std::move(view)),
      left_(static_cast<std::uint32_t>(leaves)),
      leaves_(static_cast<std::uint32_t>(leaves)),
      part_(part) {
  is_view_ = true;
  view_size_ = static_cast<std::uint32_t>(source_->size());
  strided_ = !source_->all_contiguous() || !view_->keeps_contiguous();
  const std::size_t words = (std::size_t{view_size_} + 63) / 64;
  if (words > 1) {
    many_.reset(new std::atomic<std::uint64_t>[words]);
    for (std::size_t i = 0; i < words; ++i) many_[i].store(0, std::memory_order_relaxed);
  }
}

void ViewRow::make_one(std::size_t slot) const {
  LeafRowPtr done;  // freed without the lock
  const std::lock_guard<std::mutex> hold(mutex_);
  if (made(slot)) return;
  if (values_.empty()) values_.resize(view_size_);
  if (left_ == 0) return;  // an empty place
  const at::Tensor& leaf = source_->at(slot).tensor();
  if (!leaf.defined()) return;
  values_[slot] = Value(view_->of(leaf, part_));
  std::atomic<std::uint64_t>& known = bits(slot);  // changed with the lock only
  known.store(known.load(std::memory_order_relaxed) | std::uint64_t{1} << slot % 64,
              std::memory_order_release);
  if (--left_ != 0) return;
  schema_ = shared_schema();
  done = std::move(source_);
  if (nested_.empty()) view_.reset();
}

void ViewRow::make_all() const {
  for (std::size_t slot = 0; slot < view_size_; ++slot) at(slot);
}

}  // namespace td
