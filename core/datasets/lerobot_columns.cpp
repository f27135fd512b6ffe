#include "core/datasets/lerobot_columns.h"

#include "core/arrow/types.h"
#include "core/datasets/save.h"
#include "core/formats/json_text.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>

namespace td::datasets {

std::string dtype_text(const Feature& feature) {
  return feature.holds == Feature::text    ? "string"
         : feature.holds == Feature::image ? "image"
                                           : dtype_name(feature.dtype).substr(6);
}

Plain feature_plain(const std::string& dtype, SizesView shape, Plain names) {
  return object_of(
      {{"dtype", Plain::of_text(dtype)}, {"shape", list_of(shape)}, {"names", std::move(names)}});
}

Plain described(const Feature& feature) {
  const Plain value = object_of(
      {{"dtype", Plain::of_text(dtype_text(feature))}, {"_type", Plain::of_text("Value")}});
  if (feature.holds == Feature::image) return object_of({{"_type", Plain::of_text("Image")}});
  if (feature.holds == Feature::text || feature.shape == Sizes{1}) return value;
  if (feature.shape.size() == 1) {
    return object_of({{"feature", value},
                      {"length", Plain::of_integer(feature.shape[0])},
                      {"_type", Plain::of_text("Sequence")}});
  }
  return object_of(
      {{"shape", list_of(feature.shape)},
       {"dtype", Plain::of_text(dtype_text(feature))},
       {"_type", Plain::of_text("Array" + std::to_string(feature.shape.size()) + "D")}});
}

arrow::Column nested_lists(std::string_view name, const at::Tensor& tensor,
                           const std::string& metadata) {
  arrow::Column column =
      arrow::tensor_column(tensor.dim() == 1 ? name : "item", tensor.reshape({-1}));
  for (std::int64_t dim = tensor.dim(); dim-- > 1;) {
    const std::int64_t lists =
        tensor.sizes().slice(0, static_cast<std::size_t>(dim)).empty()
            ? 1
            : c10::multiply_integers(tensor.sizes().slice(0, static_cast<std::size_t>(dim)));
    const std::vector<std::int64_t> lengths(static_cast<std::size_t>(lists), tensor.size(dim));
    column = arrow::ragged_column(dim == 1 ? name : "item", lengths, std::move(column),
                                  dim == 1 ? metadata : std::string());
  }
  return column;
}

arrow::Column tensor_as_column(const Feature& feature, const at::Tensor& rows) {
  if (feature.shape == Sizes{1}) return arrow::tensor_column(feature.column, rows.reshape({-1}));
  if (feature.shape.size() == 1) return arrow::tensor_column(feature.column, rows);
  const std::string dims = std::to_string(feature.shape.size());
  const Plain told = Plain::of_list({list_of(feature.shape), Plain::of_text(dtype_text(feature))});
  return nested_lists(
      feature.column, rows,
      arrow::metadata_text(
          {{arrow::extension_key, "datasets.features.features.Array" + dims + "DExtensionType"},
           {"ARROW:extension:metadata", python_json(told)}}));
}

arrow::Column numbers_column(std::string_view name, const std::vector<std::int64_t>& numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  at::Tensor values = at::empty({count}, at::kLong);
  std::copy(numbers.begin(), numbers.end(), values.data_ptr<std::int64_t>());
  return arrow::tensor_column(name, values);
}

arrow::Column texts_column(std::string_view name, const std::vector<std::string>& texts) {
  return arrow::text_column(name, {texts.begin(), texts.end()}, false);
}

arrow::Column pictures_column(std::string_view name, const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    char text[48];
    std::snprintf(text, sizeof text, "frame-%06zu.png", i);
    names.emplace_back(text);
  }
  std::vector<arrow::Column> parts;
  parts.push_back(arrow::text_column("bytes", {files.begin(), files.end()}, true));
  parts.push_back(texts_column("path", names));
  return arrow::struct_column(name, static_cast<std::int64_t>(files.size()), std::move(parts), {});
}

}  // namespace td::datasets
