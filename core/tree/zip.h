// core/tree/zip.h: combines trees by key: builds one tree, or calls a function for their leaves. Sinks of the
// walk.
#pragma once

#include "core/tree/sink.h"

#include <c10/util/FunctionRef.h>

#include <optional>

namespace td {

// What zip() makes of the entries at the same key; like BatchOp, for several trees.
class ZipOp {
 public:
  virtual ~ZipOp() = default;
  // An undefined tensor drops the entry.
  virtual at::Tensor leaf(const Here& here, Tensors tensors) const = 0;
  virtual Sizes batch(SizesView before) const { return Sizes(before.begin(), before.end()); }
  virtual std::optional<c10::Device> device(const std::optional<c10::Device>& before) const {
    return before;
  }
  // Dimension names and tensorclass, for nodes that have them.
  virtual void tags(const Node& before, Node& after) const { copy_tags(before, after); }
  // A non-tensor value; nullptr for trees that have a tensor or a dictionary there.
  virtual Value data(const Here& here, NodesHere nodes) const;
};

// Builds a tree from several, without recursion. Keys are in the order of the first tree, followed by keys
// that only others have. A shared combination of nodes becomes one shared node. Keeps the first tree's schema
// while the keys stay. Batch sizes are the first tree's, changed by `op`; leaves must start with them. A lazy
// first tree gives a lazy stack.
NodePtr zip(c10::ArrayRef<NodePtr> roots, const ZipOp& op, const WalkRules& rules = {});

// What visit_zip() calls.
class ZipVisitor {
 public:
  virtual ~ZipVisitor() = default;
  virtual void leaf(const Here& here, Tensors tensors) = 0;
  virtual void value(const Here&, NodesHere) {}
  virtual void nested_tensor(const Here& here, const NestedTensorNode&, NodesHere nodes) {
    value(here, nodes);
  }
};

// Calls `leaf` for the leaves of several trees, without recursion, once for a shared combination of nodes.
// With Take::elements it receives the writable tensors of a lazy stack's elements, which share one path.
void visit_zip(c10::ArrayRef<NodePtr> roots, Take lazy, ZipVisitor& visitor,
               const WalkRules& rules = {});
void visit_zip(c10::ArrayRef<NodePtr> roots, Take lazy,
               c10::function_ref<void(const Here&, Tensors)> leaf, const WalkRules& rules = {});

}  // namespace td
