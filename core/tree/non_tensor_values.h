// core/tree/non_tensor_values.h: non-tensor values, for a whole batch or for each of its elements.
#pragma once

#include "core/tree/kinds.h"

#include <string>
#include <string_view>
#include <vector>

namespace td {

// The values of the elements, row by row; a NonTensorNode's for each element.
std::vector<const NonTensorNode*> non_tensor_values(const Node& node);

// The value that all elements hold, also those of a batch of size 0; nullptr if they differ, or without elements.
const Plain* common_value(const Node& node) noexcept;

// A stack of the values at `positions` (int64); a single value without dimensions.
NodePtr make_non_tensor(const std::vector<const NonTensorNode*>& values,
                        const at::Tensor& positions, std::optional<c10::Device> device);

// Applies an operation that moves batch dimensions to values, by moving their positions.
NodePtr rearrange_non_tensor(const NodePtr& node, const BatchOp& op);

// The values in lists nested like the batch, or the bare value without dimensions.
Plain non_tensor_lists(const Node& node);
// The same as JSON, with a space between the values.
std::string non_tensor_json(const Node& node);

// A value for each element, of lists nested like `batch`. Code::shape if they do not fit.
NodePtr non_tensor_of_lists(const Plain& lists, SizesView batch, std::optional<c10::Device> device);
NodePtr non_tensor_from_json(std::string_view json, SizesView batch,
                             std::optional<c10::Device> device);

// Whether both hold equal values, element by element.
bool same_non_tensor(const Node& a, const Node& b);

}  // namespace td
