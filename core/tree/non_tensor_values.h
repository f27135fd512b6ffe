// core/tree/non_tensor_values.h: non-tensor values: one for a whole batch, or one for each element of it.
#pragma once

#include "core/tree/kinds.h"

#include <string>
#include <vector>

namespace td {

// The values of each element of the batch, row by row. Of a NonTensorNode the same one for all.
std::vector<const NonTensorNode*> non_tensor_values(const Node& node);

// A stack of the values at `positions` (int64) in `values`; a single value for no dimensions.
NodePtr make_non_tensor(const std::vector<const NonTensorNode*>& values,
                        const at::Tensor& positions, std::optional<c10::Device> device);

// What an operation that moves batch dimensions makes of values: found out by letting it move their
// positions.
NodePtr rearrange_non_tensor(const NodePtr& node, const BatchOp& op);

// The values as JSON text: lists nested as the batch is, or the bare value for no dimensions.
std::string non_tensor_json(const Node& node);

// The opposite: lists as deep as `batch` are taken apart, with a value for each element. A text whose
// lists do not fit the batch gives Code::shape.
NodePtr non_tensor_from_json(const std::string& json, SizesView batch,
                             std::optional<c10::Device> device);

// Whether two of them hold equal values, element by element.
bool same_non_tensor(const Node& a, const Node& b);

}  // namespace td
