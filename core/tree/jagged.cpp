// The jagged layout of nested tensors, used by libtorch and Python's consolidated files.
#include "core/tree/nested_tensor.h"

#include <ATen/ATen.h>

namespace td {

namespace {

// Offsets or lengths as checked numbers.
std::vector<std::int64_t> numbers(const at::Tensor& tensor, const std::string& where) {
  const c10::ScalarType dtype = tensor.scalar_type();
  if (tensor.dim() != 1 || (dtype != at::kLong && dtype != at::kInt)) {
    fail(Code::format, where,
         ": the offsets and lengths of a nested tensor must be one-dimensional integers");
  }
  const at::Tensor dense = tensor.to(at::kCPU).to(at::kLong).contiguous();
  const std::int64_t* first = dense.data_ptr<std::int64_t>();
  return {first, first + dense.numel()};
}

}  // namespace

Jagged jagged_of(const NestedTensorNode& node) {
  if (node.part_dims() == 0) {
    fail(Code::unsupported, "a nested tensor whose parts are scalars has no jagged layout");
  }
  const SizesView common =
      node.parts() == 0 ? SizesView() : node.part_sizes(0).slice(1, node.part_dims() - 1);
  std::vector<std::int64_t> offsets{0};
  for (std::size_t i = 0; i < node.parts(); ++i) {
    if (node.part_sizes(i).slice(1, node.part_dims() - 1) != common) {
      fail(Code::unsupported, "a nested tensor of shape ", show_sizes(node.shape()),
           " has no jagged layout: its parts differ in more than their first dimension");
    }
    offsets.push_back(offsets.back() + node.part_sizes(i)[0]);
  }
  Sizes sizes{offsets.back()};
  sizes.append(common.begin(), common.end());
  if (node.parts() == 0) sizes.append(node.part_dims() - 1, 0);
  Jagged result;
  result.values = node.values().view(sizes);
  result.offsets = at::tensor(offsets, at::kLong);
  return result;
}

NestedTensorPtr from_jagged(Jagged jagged, const std::string& where) {
  const at::Tensor& values = jagged.values;
  const std::int64_t along = jagged.dim - 1;
  if (along < 0 || along >= values.dim()) {
    fail(Code::format, where, ": a nested tensor over values of shape ", show_sizes(values.sizes()),
         " has no nested dimension ", jagged.dim);
  }
  const std::vector<std::int64_t> offsets = numbers(jagged.offsets, where);
  std::vector<std::int64_t> lengths;
  if (jagged.lengths.defined()) lengths = numbers(jagged.lengths, where);
  if (offsets.empty() || (jagged.lengths.defined() && lengths.size() + 1 != offsets.size() &&
                          lengths.size() != offsets.size())) {
    fail(Code::format, where, ": ", lengths.size(), " lengths and ", offsets.size(),
         " offsets do not form a nested tensor");
  }
  const std::size_t parts = jagged.lengths.defined() ? lengths.size() : offsets.size() - 1;
  const std::int64_t all = values.size(along);
  bool in_rows = along == 0;
  std::int64_t end = 0;
  std::vector<std::int64_t> table;
  std::vector<at::Tensor> pieces;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::int64_t begin = offsets[i];
    const bool known = begin >= 0 && begin <= all;
    const std::int64_t length = !known                     ? -1
                                : jagged.lengths.defined() ? lengths[i]
                                                           : offsets[i + 1] - begin;
    if (length < 0 || length > all - begin) {
      fail(Code::format, where, ": part ", i, " of a nested tensor is beyond its values");
    }
    in_rows = in_rows && begin == end;
    end = begin + length;
    for (std::int64_t d = 0; d < values.dim(); ++d) {
      table.push_back(d == along ? length : values.size(d));
    }
  }
  in_rows = in_rows && end == all;
  at::Tensor flat = values;
  if (!in_rows) {
    // Overlapping parts would need more values than the file has.
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      sum += table[i * static_cast<std::size_t>(values.dim()) + static_cast<std::size_t>(along)];
      if (sum > all) fail(Code::format, where, ": the parts of a nested tensor overlap");
      pieces.push_back(values
                           .narrow(along, offsets[i],
                                   table[i * static_cast<std::size_t>(values.dim()) +
                                         static_cast<std::size_t>(along)])
                           .reshape({-1}));
    }
    flat = pieces.empty() ? values.reshape({-1}).narrow(0, 0, 0) : at::cat(pieces);
  }
  NestedTensorPtr result = make_nested_tensor(
      flat, at::tensor(table, at::kLong).view({static_cast<std::int64_t>(parts), values.dim()}));
  result->set_jagged(std::move(jagged));
  return result;
}

}  // namespace td
