#include "core/datasets/lerobot_values.h"

#include "core/base/quote.h"
#include "core/tensor/dtype.h"
#include "core/tree/non_tensor.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>

namespace td::datasets {

namespace {

// One kind of numbers as another, all of them the same. Code::format if some are not.
at::Tensor as_dtype(const at::Tensor& values, c10::ScalarType dtype, const std::string& where) {
  if (dtype == c10::ScalarType::Undefined || values.scalar_type() == dtype) return values;
  at::Tensor result = values.to(dtype);
  const bool exact =
      c10::isFloatingType(dtype) ||
      (!values.is_floating_point() && at::equal(result.to(values.scalar_type()), values));
  if (!exact) {
    fail(Code::format, where, " has values of ", dtype_name(values.scalar_type()),
         " that are no values of ", dtype_name(dtype), ", which info.json tells");
  }
  return result;
}

}  // namespace

at::Tensor tensor_of_column(const TensorDict& values, const Feature& feature, std::int64_t rows,
                            const std::string& where) {
  if (values.kind_of({feature.column}) != EntryKind::tensor)
    fail(Code::format, where, " holds no numbers, and info.json says so");
  const at::Tensor found = values.get({feature.column});
  Sizes sizes{rows};
  std::int64_t elements = rows;
  for (const std::int64_t size : feature.shape) {
    sizes.push_back(size);
    elements *= size;
  }
  if (found.numel() != elements) {
    fail(Code::format, where, " has values of sizes ", show_sizes(found.sizes()),
         ", and info.json tells of ", show_sizes(sizes));
  }
  return as_dtype(found, feature.dtype, where).reshape(sizes);
}

std::vector<Plain> items_of_column(const TensorDict& values, const Feature& feature,
                                   const std::string& where) {
  const bool is_image = feature.holds == Feature::image;
  std::vector<std::string_view> path{feature.column};
  if (is_image && values.kind_of(path) == EntryKind::dict) path.emplace_back("bytes");
  if (values.kind_of(path) != EntryKind::non_tensor) {
    fail(Code::format, where, " holds no ", is_image ? "bytes of pictures" : "texts",
         ", and info.json says so");
  }
  const TensorDict holder = path.size() == 1 ? values : values.get_dict({path[0]});
  const std::optional<Value> entry = holder.node()->entry(path.back());
  const Plain lists = non_tensor_lists(*entry->node());
  for (const Plain& one : lists.items()) {
    if (is_image && !one.is(Plain::object)) fail(Code::format, where, " has a row without bytes");
  }
  return {lists.items().begin(), lists.items().end()};
}

}  // namespace td::datasets
