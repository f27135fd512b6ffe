// td/lazy_ops.h: operations on the batch dimensions of lazy stacks that leave them lazy.
#pragma once

#include "td/kinds.h"

namespace td {

// The view that a plan makes. The plan may have been made for a dictionary that holds the stack.
NodePtr view_lazy(const LazyNode& lazy, const ViewPlan& plan);

// The parts along a dimension (from 0): the elements themselves along the dimension of the stack.
std::vector<NodePtr> unbind_lazy(const LazyNode& lazy, std::int64_t dim);

// Elements are put in or appended. All is checked first: locks, device, batch size.
void lazy_insert(const NodePtr& lazy, std::int64_t position, const NodePtr& element);
void lazy_extend(const NodePtr& lazy, c10::ArrayRef<NodePtr> elements);

// How the tensors of a key are read whose shapes differ.
struct RaggedOptions {
  double padding_value = 0;
  bool left = false;  // padding in front
};

// The tensor of each element, as they are.
std::vector<at::Tensor> lazy_get_list(const NodePtr& node, Path path);

// The tensors of a key, each padded to the longest in every dimension that differs.
at::Tensor lazy_get_padded(const NodePtr& node, Path path, const RaggedOptions& options);

// The same as a nested tensor, where libtorch has such.
at::Tensor lazy_get_nested(const NodePtr& node, Path path);

// Any dictionary as a lazy stack along a dimension.
NodePtr to_lazy(const NodePtr& node, std::int64_t dim);

// Names that some elements have and others lack.
std::vector<std::string> exclusive_names(const LazyNode& lazy);

}  // namespace td
