// core/tree/leaf_row.h: the names and leaves of a dictionary, by position.
#pragma once

#include "core/tree/node.h"
#include "core/tree/schema.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace td {

class LeafRow;
using LeafRowPtr = c10::intrusive_ptr<LeafRow>;

// What a view makes of a leaf. One object serves all dictionaries of a result; it never changes.
class LeafView : public c10::intrusive_ptr_target {
 public:
  // `part`: which of the parts that share this object. Bypasses the dispatcher; Code::shape if the leaf no
  // longer has the sizes that the view was made for.
  virtual at::Tensor of(const at::Tensor& leaf, std::int64_t part) const = 0;
  // Whether it can be made of every leaf that the row says it has, and is contiguous if these are.
  virtual bool fits(const LeafRow& row) const noexcept = 0;
  virtual bool keeps_contiguous() const noexcept = 0;
  // The same in one step after another view; null if that is not simple.
  virtual c10::intrusive_ptr<LeafView> after(const LeafView& first, std::int64_t first_part,
                                             std::int64_t part) const = 0;
};
using LeafViewPtr = c10::intrusive_ptr<LeafView>;

// Code::shape: another holder of the tensor changed it since the view was made.
[[noreturn]] void fail_changed(const at::Tensor& leaf, SizesView batch);

// Rows are shared by dictionaries, and immutable while shared: a dictionary copies its row before it changes an
// entry. Places of nodes and of erased entries are empty. No row holds nodes.
class LeafRow : public c10::intrusive_ptr_target {
 public:
  explicit LeafRow(SchemaPtr schema) : names_(schema.get()), schema_(std::move(schema)) {}
  static void* operator new(std::size_t);
  static void operator delete(void* memory);

  std::size_t size() const noexcept { return is_view_ ? view_size_ : values_.size(); }
  // The row of a view makes a leaf here when it is first read, which may fail for lack of memory.
  const Value& at(std::size_t slot) const {
    if (is_view_) make(slot);
    return values_[slot];
  }
  // The leaf, or null for an empty place and for the row of a view.
  const Value* ready(std::size_t slot) const noexcept {
    return !is_view_ && values_[slot].tensor().defined() ? &values_[slot] : nullptr;
  }
  bool is_view() const noexcept { return is_view_; }

  const Schema* schema() const noexcept { return names_; }
  SchemaPtr shared_schema() const { return SchemaPtr::reclaim_copy(names_); }

  // Whether the dispatcher can be bypassed for all leaves, and all are contiguous; false if unsure.
  bool all_plain() const noexcept { return !odd_; }
  bool all_contiguous() const noexcept { return !strided_; }

  // A new row with these leaves, no view.
  LeafRowPtr copy() const;
  // A row with a view of each of the `leaves`; null if they have to be made at once.
  LeafRowPtr viewed(const LeafViewPtr& view, std::int64_t part, std::size_t leaves) const;

  // Calls `f(const at::Tensor&)` for all tensors that the row alone keeps alive. Makes no leaf.
  template <class F>
  void each_kept(F&& f) const;

  // Changes of a row that has one holder and is no view.
  const SchemaPtr& own_schema() const noexcept { return schema_; }
  void set_schema(SchemaPtr schema) noexcept {
    schema_ = std::move(schema);
    names_ = schema_.get();
  }
  std::size_t capacity() const noexcept { return values_.capacity(); }
  void reserve(std::size_t n) { values_.reserve(n); }
  void push(Value leaf) {
    note(leaf.tensor());
    values_.push_back(std::move(leaf));
  }
  void swap(std::size_t slot, Value& leaf) noexcept {
    note(leaf.tensor());
    std::swap(values_[slot], leaf);
  }
  void move_down(std::size_t from, std::size_t to) noexcept {
    values_[to] = std::move(values_[from]);
  }
  void erase(std::size_t slot) noexcept { values_.erase(values_.begin() + slot); }
  void cut(std::size_t size) noexcept { values_.erase(values_.begin() + size, values_.end()); }

 protected:
  friend class ViewRow;
  explicit LeafRow(Schema* names) noexcept : names_(names) {}
  void note(const at::Tensor& leaf) noexcept;
  void make(std::size_t slot) const;

  Schema* names_;
  mutable SchemaPtr schema_;                   // holds them; of a view: null while its source does
  mutable c10::SmallVector<Value, 6> values_;  // of a view: empty until the first is made
  std::uint32_t view_size_ = 0;
  bool is_view_ = false;
  bool odd_ = false;
  bool strided_ = false;
};

// The row of a view. Each leaf is made once; several threads may read.
class ViewRow final : public LeafRow {
 public:
  // `leaves`: all but those whose places are empty.
  ViewRow(LeafRowPtr source, LeafViewPtr view, std::int64_t part, std::size_t leaves);
  static void* operator new(std::size_t);
  static void operator delete(void* memory);

 private:
  friend class LeafRow;
  friend class DenseNode;

  // A dictionary in that of the source, as it was when the view was made.
  struct Nested {
    LeafRowPtr row;
    Sizes batch;  // of the view
    std::optional<c10::Device> device;
  };

  std::atomic<std::uint64_t>& bits(std::size_t slot) const noexcept {
    return many_ == nullptr ? one_ : many_[slot / 64];
  }
  bool made(std::size_t slot) const noexcept {
    return (bits(slot).load(std::memory_order_acquire) >> slot % 64 & 1) != 0;
  }
  void make_one(std::size_t slot) const;
  void make_all() const;

  mutable std::mutex mutex_;    // of all below
  mutable LeafRowPtr source_;   // null when all are made
  mutable LeafViewPtr view_;    // null when the dictionaries are made, too
  mutable std::uint32_t left_;  // leaves that are not made
  std::uint32_t leaves_;
  std::int64_t part_;
  mutable std::atomic<std::uint64_t> one_{0};  // which are made, if there are up to 64, or
  std::unique_ptr<std::atomic<std::uint64_t>[]> many_;
  mutable c10::SmallVector<Nested, 1> nested_;  // those that are not made
};

inline void LeafRow::make(std::size_t slot) const {
  const auto& view = static_cast<const ViewRow&>(*this);
  if (!view.made(slot)) view.make_one(slot);
}

template <class F>
void LeafRow::each_kept(F&& f) const {
  if (!is_view_) {
    for (const Value& leaf : values_) {
      if (leaf.tensor().defined()) f(leaf.tensor());
    }
    return;
  }
  const auto& view = static_cast<const ViewRow&>(*this);
  const std::lock_guard<std::mutex> hold(view.mutex_);
  const bool keeps_source = view.source_.defined() && view.source_.use_count() == 1;
  for (std::size_t slot = 0; slot < size(); ++slot) {
    if (keeps_source) {
      const Value& source = view.source_->at(slot);
      if (source.tensor().defined()) f(source.tensor());
    }
    if (view.made(slot)) f(values_[slot].tensor());
  }
}

}  // namespace td
