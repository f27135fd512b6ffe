#include "core/tree/nested_tensor.h"

#include "core/formats/format.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/scalar.h"
#include "core/tree/paths.h"
#include "core/tree/tensordict.h"
#include "core/tree/traverse.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

using Offsets = std::vector<std::int64_t>;

// The offsets of parts of these sizes; checked, since sizes may come from files.
std::shared_ptr<const Offsets> offsets_of(const at::Tensor& sizes, std::size_t item_bytes) {
  const auto parts = static_cast<std::size_t>(sizes.size(0));
  const auto dims = static_cast<std::size_t>(sizes.size(1));
  const std::int64_t* row = sizes.data_ptr<std::int64_t>();
  auto offsets = std::make_shared<Offsets>();
  offsets->reserve(parts + 1);
  offsets->push_back(0);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < parts; ++i, row += dims) {
    const std::optional<std::int64_t> part = checked_bytes({row, dims}, item_bytes);
    if (!part || __builtin_add_overflow(bytes, *part, &bytes)) {
      fail(Code::shape, "part ", i, " of a nested tensor cannot have the sizes ",
           show_sizes({row, dims}));
    }
    offsets->push_back(bytes / static_cast<std::int64_t>(item_bytes));
  }
  return offsets;
}

void require_strided(const at::Tensor& tensor) {
  if (tensor.layout() != c10::kStrided || tensor.is_nested() || !tensor.has_storage()) {
    fail(Code::unsupported, "a nested tensor needs dense tensors");
  }
}

// The largest size in each dimension.
Sizes longest(const NestedTensorNode& node) {
  Sizes sizes(node.part_dims(), 0);
  for (std::size_t i = 0; i < node.parts(); ++i) {
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      sizes[d] = std::max(sizes[d], node.part_sizes(i)[d]);
    }
  }
  return sizes;
}

// The region of a part in a padded tensor of sizes `full`.
at::Tensor place_of(const at::Tensor& padded, std::size_t i, SizesView part, SizesView full,
                    bool left) {
  at::Tensor place = padded.select(0, static_cast<std::int64_t>(i));
  for (std::size_t d = 0; d < part.size(); ++d) {
    place = place.narrow(static_cast<std::int64_t>(d), left ? full[d] - part[d] : 0, part[d]);
  }
  return place;
}

}  // namespace

at::Tensor NestedTensorNode::part(std::size_t i) const {
  const std::int64_t begin = offsets()[i];
  return values_.narrow(0, begin, offsets()[i + 1] - begin).view(part_sizes(i));
}

Sizes NestedTensorNode::shape() const {
  Sizes shape{static_cast<std::int64_t>(parts())};
  for (std::size_t d = 0; d < part_dims(); ++d) {
    std::int64_t size = parts() == 0 ? 0 : part_sizes(0)[d];
    for (std::size_t i = 1; i < parts(); ++i) {
      if (part_sizes(i)[d] != size) size = -1;
    }
    shape.push_back(size);
  }
  return shape;
}

NestedTensorPtr NestedTensorNode::with_values(at::Tensor values,
                                              std::optional<c10::Device> device) const {
  auto result =
      c10::make_intrusive<NestedTensorNode>(std::move(values), sizes_, offsets_, batch(), device);
  copy_tags(*this, *result);
  return result;
}

NodePtr NestedTensorNode::transform(const BatchOp& op) const {
  Value value = op.nested_tensor(*this);
  if (!value.is_node()) {
    fail(Code::unsupported, "one part of a nested tensor is a tensor, not a dictionary");
  }
  return value.take_node();
}

NodePtr NestedTensorNode::shallow_copy() const { return with_values(values_, device()); }

Value BatchOp::nested_tensor(const NestedTensorNode&) const {
  fail(Code::unsupported,
       "this operation does not support the nested tensor among the entries: pad it, use its "
       "parts, or leave it out");
}

Value nested_tensor_entry(const Node& nested_tensor, const BatchOp& op) {
  return op.nested_tensor(static_cast<const NestedTensorNode&>(nested_tensor));
}

std::int64_t count_nested_tensor(const at::Tensor& sizes, std::size_t item_bytes) {
  return offsets_of(sizes, item_bytes)->back();
}

const at::Tensor* any_leaf(const NodePtr& root) {
  const at::Tensor* found = nullptr;
  visit_nodes(root, [&](const Node& node) -> bool {
    for_each_leaf(node, [&](const at::Tensor& leaf) { found = found == nullptr ? &leaf : found; });
    return found != nullptr;
  });
  return found;
}

NestedTensorPtr make_nested_tensor(const at::Tensor& values, const at::Tensor& sizes) {
  require_strided(values);
  require_strided(sizes);
  if (sizes.scalar_type() != at::kLong || sizes.dim() != 2) {
    fail(Code::shape, "the sizes of a nested tensor are int64 of shape [parts, dimensions], not ",
         dtype_name(sizes.scalar_type()), " of shape ", show_sizes(sizes.sizes()));
  }
  // With 0-dimensional parts the table takes no memory at any length: compare it with the values.
  const bool counted = sizes.size(1) != 0 || sizes.size(0) == values.numel();
  if (!counted) {
    fail(Code::shape, "a nested tensor of ", sizes.size(0),
         " parts without dimensions cannot have ", values.numel(), " elements");
  }
  // Copy: sizes become addresses, and the caller may write into its tensor at any time.
  const at::Tensor table = sizes
                               .to(at::TensorOptions(at::kCPU), /*non_blocking=*/false,
                                   /*copy=*/true)
                               .contiguous();
  const auto offsets = offsets_of(table, values.element_size());
  if (offsets->back() != values.numel()) {
    fail(Code::shape, "a nested tensor of these sizes has ", offsets->back(), " elements, got ",
         values.numel());
  }
  const std::int64_t parts = table.size(0);
  const at::Tensor flat = values.dim() == 1 ? values.contiguous() : values.contiguous().view({-1});
  return c10::make_intrusive<NestedTensorNode>(flat, table, offsets, Sizes{parts}, values.device());
}

NestedTensorPtr make_nested_tensor(c10::ArrayRef<at::Tensor> parts) {
  if (parts.empty()) {
    fail(Code::invalid_argument, "a nested tensor needs at least one part");
  }
  const at::Tensor& first = parts[0];
  std::vector<std::int64_t> table;
  std::vector<at::Tensor> flat;
  for (const at::Tensor& part : parts) {
    require_strided(part);
    if (part.dim() != first.dim()) {
      fail(Code::shape,
           "the parts of a nested tensor must have the same number of dimensions: found ",
           show_sizes(first.sizes()), " and ", show_sizes(part.sizes()));
    }
    if (part.scalar_type() != first.scalar_type()) {
      fail(Code::dtype, "the parts of a nested tensor must have one dtype: found ",
           dtype_name(first.scalar_type()), " and ", dtype_name(part.scalar_type()));
    }
    if (part.device() != first.device()) {
      fail(Code::device, "the parts of a nested tensor must be on one device: found ",
           first.device().str(), " and ", part.device().str());
    }
    table.insert(table.end(), part.sizes().begin(), part.sizes().end());
    flat.push_back(part.reshape({-1}));
  }
  const auto n = static_cast<std::int64_t>(parts.size());
  return make_nested_tensor(at::cat(flat), at::tensor(table, at::kLong).view({n, first.dim()}));
}

NestedTensorPtr for_batch(const NestedTensorNode& node, SizesView batch, const std::string& what) {
  Sizes wanted{static_cast<std::int64_t>(node.parts())};
  if (batch.size() > 1) wanted.assign(batch.begin(), batch.end());
  bool fits = batch.empty() || (batch[0] == static_cast<std::int64_t>(node.parts()) &&
                                batch.size() <= node.part_dims() + 1);
  for (std::size_t i = 0; fits && batch.size() > 1 && i < node.parts(); ++i) {
    fits = node.part_sizes(i).slice(0, batch.size() - 1) == batch.slice(1);
  }
  if (!fits) {
    fail(Code::shape, "batch dimension mismatch: ", what, " is a nested tensor of shape ",
         show_sizes(node.shape()), ", which does not begin with the batch size ",
         show_sizes(batch));
  }
  NestedTensorPtr result = node.with_values(node.values(), node.device());
  result->set_batch(wanted);
  return result;
}

const NestedTensorNode& require_nested_tensor(const NodePtr& node) {
  const NestedTensorNode* nested_tensor = as_nested_tensor(node.get());
  if (nested_tensor == nullptr)
    fail(Code::wrong_entry, "this is a dictionary or a value, not a nested tensor");
  return *nested_tensor;
}

TensorDict get_nested_tensor(const TensorDict& td, Path path) {
  const Value value = find_entry(td.node(), path);
  if (kind_of(value) != EntryKind::nested_tensor) fail_kind(path, value, "nested tensor");
  return TensorDict(value.node());
}

at::Tensor part_at(const NestedTensorNode& node, std::int64_t position) {
  const auto n = static_cast<std::int64_t>(node.parts());
  if (position < -n || position >= n) {
    fail(Code::index, "part ", position, " is out of range for a nested tensor of ", n);
  }
  return node.part(static_cast<std::size_t>(position < 0 ? position + n : position));
}

at::Tensor padded(const NestedTensorNode& node, double value, bool left) {
  const Sizes full = longest(node);
  Sizes sizes{static_cast<std::int64_t>(node.parts())};
  sizes.append(full.begin(), full.end());
  require_fits(value, node.values().scalar_type(), "padding");
  at::Tensor result = at::full(sizes, value, node.values().options());
  for (std::size_t i = 0; i < node.parts(); ++i) {
    place_of(result, i, node.part_sizes(i), full, left).copy_(node.part(i));
  }
  return result;
}

at::Tensor padding_mask(const NestedTensorNode& node, bool left) {
  const Sizes shape = node.shape();
  std::size_t dims = node.part_dims();
  while (dims > 0 && shape[dims] >= 0) --dims;  // later dimensions do not differ
  const Sizes full = longest(node);
  Sizes sizes{static_cast<std::int64_t>(node.parts())};
  sizes.append(full.begin(), full.begin() + static_cast<std::ptrdiff_t>(dims));
  at::Tensor result = at::zeros(sizes, node.values().options().dtype(at::kBool));
  for (std::size_t i = 0; i < node.parts(); ++i) {
    place_of(result, i, node.part_sizes(i).slice(0, dims), full, left).fill_(true);
  }
  return result;
}

NestedTensorPtr parts_at(const NestedTensorNode& node, c10::ArrayRef<std::int64_t> positions) {
  const auto n = static_cast<std::int64_t>(positions.size());
  bool in_a_row = true;
  std::vector<at::Tensor> pieces;
  const at::Tensor table = at::empty({n, node.sizes().size(1)}, at::kLong);
  std::int64_t* row = table.data_ptr<std::int64_t>();
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const auto i = static_cast<std::size_t>(positions[k]);
    in_a_row = in_a_row && positions[k] == positions[0] + static_cast<std::int64_t>(k);
    row = std::copy(node.part_sizes(i).begin(), node.part_sizes(i).end(), row);
  }
  at::Tensor values;
  if (in_a_row) {
    const std::int64_t first = n == 0 ? 0 : positions[0];
    const std::int64_t begin = node.offsets()[static_cast<std::size_t>(first)];
    values =
        node.values().narrow(0, begin, node.offsets()[static_cast<std::size_t>(first + n)] - begin);
  } else {
    for (const std::int64_t i : positions) {
      pieces.push_back(node.part(static_cast<std::size_t>(i)).view({-1}));
    }
    values = at::cat(pieces);
  }
  NestedTensorPtr result = make_nested_tensor(values, table);
  result->set_device(node.device());
  return result;
}

// Applies the operation to the positions of the parts.
Value rearranged(const NestedTensorNode& node, const BatchOp& op) {
  if (node.batch().size() != 1) {
    fail(Code::unsupported, "a nested tensor of batch size ", show_sizes(node.batch()),
         " has only one batch dimension and does not support this operation on the batch");
  }
  at::Tensor positions;
  bool copies = false;
  {
    const at::NoGradGuard no_grad;
    const at::Tensor all = at::arange(static_cast<std::int64_t>(node.parts()), at::kLong);
    positions = op.leaf(all);
    copies = !positions.is_alias_of(all);
    positions = positions.to(at::kCPU).contiguous();
  }
  const std::int64_t* at = positions.data_ptr<std::int64_t>();
  if (positions.dim() == 0) {
    const at::Tensor part = node.part(static_cast<std::size_t>(*at));
    return Value(copies ? part.clone() : part);
  }
  if (positions.dim() > 1) {
    fail(Code::unsupported,
         "a nested tensor has one batch dimension and cannot get the batch size ",
         show_sizes(positions.sizes()));
  }
  const NestedTensorPtr parts = parts_at(node, {at, static_cast<std::size_t>(positions.numel())});
  const bool shares = parts->values().is_alias_of(node.values());
  return NodePtr(copies && shares ? parts->with_values(parts->values().clone(), node.device())
                                  : parts);
}

bool same_nested_tensor(const NestedTensorNode& a, const NestedTensorNode& b) {
  if (a.values().scalar_type() != b.values().scalar_type() ||
      a.values().device() != b.values().device() || !a.sizes().equal(b.sizes())) {
    return false;
  }
  return a.values().is_meta() || a.values().equal(b.values());
}

}  // namespace td
