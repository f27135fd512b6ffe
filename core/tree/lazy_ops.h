// core/tree/lazy_ops.h: operations on the batch dimensions of lazy stacks that leave them lazy.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// The view that a plan makes. The plan may have been made for a dictionary that holds the stack.
NodePtr view_lazy(const LazyNode& lazy, const ViewPlan& plan);

// The parts along a dimension (from 0): the elements themselves along the dimension of the stack.
std::vector<NodePtr> unbind_lazy(const LazyNode& lazy, std::int64_t dim);

// Elements are put in or appended. All is checked first: locks, device, batch size.
void lazy_insert(const NodePtr& lazy, std::int64_t position, const NodePtr& element);
void lazy_extend(const NodePtr& lazy, c10::ArrayRef<NodePtr> elements);

// How the tensors of a key are read whose shapes differ.
struct PaddingOptions {
  double padding_value = 0;
  bool left = false;           // padding in front
  bool nested_tensor = false;  // not padded but made nested tensors
};

// What a tensor entry would read as, without reading it: -1 stands for sizes that differ between the
// elements of lazy stacks, and alone for tensors of different numbers of dimensions.
struct LeafLook {
  Sizes sizes;
  at::Tensor sample;  // one of the tensors: dtype, device
};
LeafLook look_at_leaf(const NodePtr& node, std::string_view name);

// The tensor of each element, as they are.
std::vector<at::Tensor> lazy_get_list(const NodePtr& node, Path path);

// The tensors of a key, each padded to the longest in every dimension that differs.
at::Tensor lazy_get_padded(const NodePtr& node, Path path, const PaddingOptions& options);

at::Tensor stack_padded(c10::ArrayRef<at::Tensor> leaves, std::int64_t dim, const std::string& name,
                        const PaddingOptions& options);

// The tensors of a key one after the other along their first dimension, and where each begins: int64,
// one more than there are elements. What libtorch's jagged layout holds.
struct JaggedValues {
  at::Tensor values;
  at::Tensor offsets;
};
JaggedValues lazy_get_jagged(const NodePtr& node, Path path);

// A dictionary without lazy stacks at any level; tensors that differ in shape are padded, as are nested
// ones, or become nested tensors. Entries that not all elements have are left out.
NodePtr to_padded(const NodePtr& root, const PaddingOptions& options);

// Any dictionary as a lazy stack along a dimension.
NodePtr to_lazy(const NodePtr& node, std::int64_t dim);

// Names that some elements have and others lack.
KeyList exclusive_keys(const LazyNode& lazy);

// As all_dense(), for files that keep a lazy stack as one dictionary. Code::unsupported if keys that only
// some elements have would be lost.
NodePtr dense_with_all_keys(const NodePtr& root);

}  // namespace td
