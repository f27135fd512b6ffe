// core/tree/lazy_ops.h: operations on batch dimensions that keep lazy stacks lazy.
#pragma once

#include "core/tree/tensordict.h"

#include <functional>

namespace td {

// Applies a plan, which may have been made for a parent dictionary.
NodePtr view_lazy(const LazyNode& lazy, const ViewPlan& plan);

// The parts along a dimension (from 0); along the stack's dimension the elements themselves.
std::vector<NodePtr> unbind_lazy(const LazyNode& lazy, std::int64_t dim);

// Insert or append elements. Check everything first: locks, device, batch size.
void lazy_insert(const NodePtr& lazy, std::int64_t position, const NodePtr& element);
void lazy_extend(const NodePtr& lazy, c10::ArrayRef<NodePtr> elements);

// How to read tensors of different shapes.
struct PaddingOptions {
  double padding_value = 0;
  bool left = false;           // pads in front
  bool nested_tensor = false;  // makes nested tensors instead of padding
};

// What a tensor entry would read as, without reading it: -1 for sizes that differ between elements; only -1
// if the numbers of dimensions differ.
struct LeafLook {
  Sizes sizes;
  at::Tensor sample;  // one of the tensors, for dtype and device
};
LeafLook look_at_leaf(const NodePtr& node, std::string_view name);

// The tensor of each element.
std::vector<at::Tensor> lazy_get_list(const NodePtr& node, Path path);

// The tensors of a key, padded to the longest in each dimension that differs.
at::Tensor lazy_get_padded(const NodePtr& node, Path path, const PaddingOptions& options);

at::Tensor stack_padded(c10::ArrayRef<at::Tensor> leaves, std::int64_t dim, const std::string& name,
                        const PaddingOptions& options);

// The tensors of a key, concatenated along their first dimension, and int64 offsets: one more than elements.
// libtorch's jagged layout.
struct JaggedValues {
  at::Tensor values;
  at::Tensor offsets;
};
JaggedValues lazy_get_jagged(const NodePtr& node, Path path);

// A dictionary without lazy stacks; pads tensors of different shapes and nested tensors, or makes nested
// tensors. Omits entries that some elements lack.
NodePtr to_padded(const NodePtr& root, const PaddingOptions& options);

// Any dictionary as a lazy stack along a dimension.
NodePtr to_lazy(const NodePtr& node, std::int64_t dim);

// Names that only some elements have.
KeyList exclusive_keys(const LazyNode& lazy);
// What is lost when the stack is read as one dictionary: these, and those of elements that are lazy stacks themselves.
std::vector<KeyList::Key> keys_lost(const LazyNode& lazy);

// The dimension along which both are lazy stacks of one length, if one of them has exclusive keys; otherwise -1.
std::int64_t unequal_along(const Node& one, const Node& other);
// What `f(i, element, element)` makes of the elements of two such stacks, as a stack.
NodePtr each_of_both(const Node& one, const Node& other,
                     const std::function<NodePtr(std::int64_t, const NodePtr&, const NodePtr&)>& f);

// all_dense() for files that store a lazy stack as one dictionary. Code::unsupported if keys that only some
// elements have would be lost.
NodePtr dense_with_all_keys(const NodePtr& root);

}  // namespace td
