// Exports dictionaries as Arrow's record batches.
#include "core/arrow/arrow.h"
#include "core/arrow/made.h"
#include "core/arrow/types.h"
#include "core/formats/json_text.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/foreign.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <limits>
#include <unordered_set>

namespace td::arrow {

namespace {

constexpr std::size_t max_export_depth = 1000;  // releasing the structs recurses
constexpr std::size_t max_int32 = std::numeric_limits<std::int32_t>::max();

// Wraps a column in fixed-size lists, one for each dimension after the first.
Column in_lists(std::string_view name, SizesView sizes, Column values) {
  std::int64_t length = values.length();
  for (std::size_t dim = sizes.size(); dim-- > 1;) {
    length = count_elements(sizes.slice(0, dim));
    values = list_column(dim == 1 ? name : "item", sizes[dim], length, std::move(values));
  }
  return values;
}

std::string packed_bits(const at::Tensor& tensor) {
  const auto n = static_cast<std::size_t>(tensor.numel());
  std::string bits((n + 7) / 8, '\0');
  const bool* from = n == 0 ? nullptr : tensor.data_ptr<bool>();
  for (std::size_t i = 0; i < n; ++i) bits[i / 8] |= static_cast<char>(from[i] ? 1 << i % 8 : 0);
  return bits;
}

at::Tensor column_values(const at::Tensor& tensor, const ExportOptions& options, Path path) {
  if (tensor.layout() != c10::kStrided || tensor.is_nested() || !tensor.has_storage()) {
    fail(Code::unsupported, show_path(path), " cannot be a column: it is not a dense tensor");
  }
  if (tensor.is_meta()) {
    fail(Code::device, show_path(path), " cannot be a column: it is on meta and has no values");
  }
  if (!tensor.is_complex()) return plain_values(tensor);
  if (!options.complex_pairs) {
    fail(Code::dtype, show_path(path), " is of ", dtype_name(tensor.scalar_type()),
         ", which Arrow lacks: ask for pairs of numbers");
  }
  return plain_values(at::view_as_real(tensor.detach().resolve_conj()));
}

Column plain_column(std::string_view name, const at::Tensor& plain, Path path) {
  const c10::ScalarType dtype = plain.scalar_type();
  const char* format = format_of(dtype);
  if (format == nullptr) {
    fail(Code::dtype, show_path(path), " is of ", dtype_name(dtype),
         ", which Arrow lacks: convert it first");
  }
  if (dtype != at::kBool) {
    const void* data = plain.numel() == 0 ? nullptr : plain.data_ptr();
    return Column(name, format, plain.numel(), data, plain.storage());
  }
  auto buffers = std::make_unique<ArrayHold>();
  buffers->count = 2;
  buffers->made = std::make_unique<std::string[]>(ArrayHold::most);
  buffers->made[1] = packed_bits(plain);
  return Column(name, format, plain.numel(), 0, std::move(buffers));
}

Column tensor_column(std::string_view name, const at::Tensor& tensor, const ExportOptions& options,
                     Path path) {
  at::Tensor made;
  const bool as_it_is = fast::plain_cpu(tensor) && tensor.is_contiguous() && !tensor.is_complex();
  if (!as_it_is) made = column_values(tensor, options, path);
  const at::Tensor& plain = as_it_is ? tensor : made;
  const SizesView sizes = plain.sizes();
  if (sizes.size() == 1) return plain_column(name, plain, path);
  return in_lists(name, sizes, plain_column("item", plain, path));
}

template <class Offset>
void append_offset(std::string& offsets, std::size_t end) {
  const auto as = static_cast<Offset>(end);
  offsets.append(reinterpret_cast<const char*>(&as), sizeof as);
}

// A column of one value for each row: text if all are texts, else JSON. null becomes a missing value.
Column value_column(std::string_view name, const Node& node) {
  const std::vector<const NonTensorNode*> values = non_tensor_values(node);
  bool text = true;
  std::size_t nulls = 0;
  for (const NonTensorNode* value : values) {
    if (value->value().is(Plain::null)) {
      ++nulls;
    } else {
      text = text && value->value().is(Plain::text);
    }
  }
  std::vector<std::size_t> ends;
  auto buffers = std::make_unique<ArrayHold>();
  buffers->count = 3;
  buffers->made = std::make_unique<std::string[]>(ArrayHold::most);
  std::string& all = buffers->made[2];
  if (nulls != 0) buffers->made[0].assign((values.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Plain& value = values[i]->value();
    if (!value.is(Plain::null)) {
      if (text) {
        all += value.characters();
      } else {
        all += json_text(value);
      }
      if (nulls != 0) buffers->made[0][i / 8] |= static_cast<char>(1 << i % 8);
    }
    ends.push_back(all.size());
  }
  const bool large = all.size() > max_int32;
  const auto add = large ? append_offset<std::int64_t> : append_offset<std::int32_t>;
  add(buffers->made[1], 0);
  for (const std::size_t end : ends) add(buffers->made[1], end);
  const SizesView sizes = node.batch();
  Column column(sizes.size() == 1 ? name : "item", large ? "U" : "u",
                static_cast<std::int64_t>(values.size()), static_cast<std::int64_t>(nulls),
                std::move(buffers), {},
                text ? std::string() : metadata_text({{extension_key, json_extension}}));
  return in_lists(name, sizes, std::move(column));
}

// A dictionary being exported.
struct Level {
  std::string name;
  std::vector<Column> columns = {};
  std::string values = {};  // values shared by all rows, as members of a JSON object

  void add_value(std::string_view key, const Plain& value) {
    values += (values.empty() ? "{" : ",") + quote(key) + ":" + json_text(value);
  }

  Column close(std::int64_t rows) {
    std::string metadata;
    if (!values.empty()) {
      if (values.size() >= max_int32) {
        fail(Code::unsupported, "the non-tensor values of \"", name, "\" are too long for Arrow");
      }
      metadata = metadata_text({{values_key, values + "}"}});
    }
    return struct_column(name, rows, std::move(columns), std::move(metadata));
  }
};

class Exporter {
 public:
  Exporter(std::int64_t rows, std::size_t columns, const ExportOptions& options)
      : rows_(rows), options_(options) {
    levels_.push_back({""});
    levels_[0].columns.reserve(columns);
  }

  void add(Path path, const Value& value) {
    const bool flat = !options_.separator.empty();
    close_to(flat ? 1 : path.size());
    const SizesView sizes = sizes_of(value);
    if (sizes.empty() || sizes[0] != rows_) {
      fail(Code::shape, show_path(path), " has shape ", show_sizes(sizes), " and not ", rows_,
           " rows");
    }
    if (is_dict(value)) {
      if (flat) return;
      if (path.size() > max_export_depth) {
        fail(Code::unsupported, "nested deeper than ", max_export_depth,
             " levels: ask for joined names");
      }
      levels_.push_back({std::string(path.back())});
      return;
    }
    const std::string joined = flat ? joined_name(path) : std::string();
    const std::string_view name = flat ? std::string_view(joined) : path.back();
    if (flat && !seen_.insert(joined).second) {
      fail(Code::key_exists, "two columns are called ", quote(name), " when joined with ",
           quote(options_.separator), ": choose another separator");
    }
    Level& level = levels_.back();
    if (!value.is_node()) {
      level.columns.push_back(tensor_column(name, value.tensor(), options_, path));
    } else if (is_nested_tensor(*value.node())) {
      fail(Code::unsupported, show_path(path),
           " is a nested tensor and cannot be a column: make it padded first");
    } else if (const Plain* one = one_value(*value.node())) {
      level.add_value(name, *one);
    } else {
      level.columns.push_back(value_column(name, *value.node()));
    }
  }

  Column finish() {
    close_to(1);
    return levels_[0].close(rows_);
  }

 private:
  void close_to(std::size_t levels) {
    while (levels_.size() > levels) {
      Column done = levels_.back().close(rows_);
      levels_.pop_back();
      levels_.back().columns.push_back(std::move(done));
    }
  }

  std::string joined_name(Path path) const {
    std::string name;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (i != 0) name += options_.separator;
      name += path[i];
    }
    return name;
  }

  std::int64_t rows_;
  const ExportOptions& options_;
  std::vector<Level> levels_;
  std::unordered_set<std::string> seen_ = {};
};

}  // namespace

Column tensor_column(std::string_view name, const at::Tensor& tensor) {
  return tensor_column(name, tensor, {}, {name});
}

void export_batch(const TensorDict& td, const ExportOptions& options, Schema* schema,
                  Array* array) {
  const bool read = !holds_entries(*td.node()) || has_lazy(td.node());
  const NodePtr root = read ? dense_with_all_keys(td.node()) : td.node();
  if (!is_dict(*root)) {
    fail(Code::wrong_entry, "a non-tensor value alone cannot be a record batch");
  }
  if (root->batch().empty()) {
    fail(Code::shape, "a record batch needs a batch dimension for its rows; the batch size is []");
  }
  Exporter exporter(root->batch()[0], entry_names(*root).size(), options);
  visit_paths(*root, [&](Path path, const Value& value) { exporter.add(path, value); });
  exporter.finish().take(schema, array);
}

}  // namespace td::arrow
