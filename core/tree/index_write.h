// core/tree/index_write.h: a write through an index, for index_write.cpp and index_write_lazy.cpp.
#pragma once

#include "core/tensor/index.h"
#include "core/tensor/tensor_index.h"
#include "core/tree/changes.h"
#include "core/tree/engine.h"
#include "core/tree/tensordict.h"

#include <forward_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace td {

// An indexed write: what it plans is written when it runs.
class IndexWrite {
 public:
  // `everywhere`: elements of lazy stacks outside the index receive new entries, too, as zeros.
  explicit IndexWrite(bool everywhere = false) : everywhere_(everywhere) {}

  // Both once, for targets other than sub-tensordicts. write() makes the batch size of the value fit that of the part.
  void write(const TensorDict& target, c10::ArrayRef<IndexItem> items, const TensorDict& value);
  void fill(const TensorDict& target, c10::ArrayRef<IndexItem> items, const at::Tensor& value);

 private:
  class Entries;
  class Fill;

  // An index compiled for one batch size. The caller owns items and batch.
  struct Scope {
    Scope(c10::ArrayRef<IndexItem> given, SizesView batch_size)
        : items(given), plan(given, batch_size), batch(batch_size), part(plan.sizes(batch_size)) {}
    // For an element outside the index: it receives new entries as zeros.
    Scope(SizesView batch_size, SizesView part_sizes)
        : untouched(true),
          plan(c10::ArrayRef<IndexItem>(), batch_size),
          batch(batch_size),
          part(part_sizes.begin(), part_sizes.end()) {}
    bool untouched = false;
    c10::ArrayRef<IndexItem> items;
    IndexPlan plan;
    SizesView batch;
    Sizes part;  // leading sizes of every value
  };

  const NodePtr& hold(NodePtr node) { return held_.emplace_front(std::move(node)); }

  template <class... Args>
  Scope& add_scope(Args&&... args) {
    if (!first_scope_) return first_scope_.emplace(std::forward<Args>(args)...);
    return scopes_.emplace_front(std::forward<Args>(args)...);
  }

  // `source` has the part's batch size. All arguments must outlive the write.
  void plan(const NodePtr& target, c10::ArrayRef<IndexItem> items, const NodePtr& source);

  // The part, with each tensor replaced by the value.
  NodePtr filled_with(const NodePtr& part, const at::Tensor& value);
  void plan_leaf(std::string_view name, const at::Tensor& target, const at::Tensor& source,
                 Scope& scope);

  // Writing non-tensor values to a part turns a common value into one for each element.
  void plan_non_tensor(const DenseNode& target, std::size_t at, const Node& source,
                       const Scope& scope);
  // The values with those of a part replaced; null if nothing changes.
  static NodePtr written(const NodePtr& target, const Node& source, const Scope& scope);

  // Adds a new entry as zeros of the full batch; it is then written like the others.
  void make(const DenseNode& holder, std::string_view name, const Value& from, Scope& scope);
  void plan(const NodePtr& target, const NodePtr& source, Scope& scope);

  // In index_write_lazy.cpp:

  // Writes each picked element with its part of the source.
  void plan_lazy(const LazyNode& target, c10::ArrayRef<IndexItem> items, std::size_t dims,
                 const NodePtr& source);
  void plan_element(const NodePtr& element, std::vector<IndexItem> items, const NodePtr& source);
  // For an index that cannot be split: computes positions, and gives each element its own.
  void plan_scattered(const LazyNode& target, c10::ArrayRef<IndexItem> items, std::size_t dims,
                      const NodePtr& source);
  // The same for a source whose elements differ in keys: each of its rows by itself. `places`: the positions of the rows
  // in each dimension.
  void plan_one_by_one(const LazyNode& target, const std::vector<at::Tensor>& places,
                       const NodePtr& source, std::size_t part_dims, std::vector<bool>& touched);
  // Adds new entries to elements outside the index.
  void plan_untouched(const LazyNode& target, const std::vector<bool>& touched, std::size_t dims,
                      const NodePtr& source, std::size_t part_dims);
  // `dims`, `part`: the indexed dimensions of the element and of the source.
  void plan_zeros(const NodePtr& element, const NodePtr& source, std::size_t dims, SizesView part);

  const bool everywhere_;
  std::forward_list<std::vector<IndexItem>> items_;  // of the scopes
  std::optional<Scope> first_scope_;                 // most writes have one
  std::forward_list<Scope> scopes_;
  std::forward_list<NodePtr> held_;
  FittedValues fitted_;
  Changes changes_;
};

}  // namespace td
