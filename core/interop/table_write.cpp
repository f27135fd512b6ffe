// Tables in text files, written.
#include "core/interop/table.h"
#include "core/io/file_io.h"
#include "core/meta/format.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>

namespace td {

namespace {

struct EntryColumn {
  std::string name;
  at::Tensor tensor;                         // of int64, float, double or bool; or undefined
  std::vector<const NonTensorNode*> values;  // without a tensor
};

// Numbers as one of four dtypes, dense on the CPU.
at::Tensor plain(const std::string& name, const at::Tensor& tensor) {
  const c10::ScalarType dtype = tensor.scalar_type();
  c10::ScalarType as = dtype;
  if (at::isIntegralType(dtype, /*includeBool=*/false)) as = at::kLong;
  if (dtype == at::kHalf || dtype == at::kBFloat16) as = at::kFloat;
  if (as != at::kLong && as != at::kFloat && as != at::kDouble && as != at::kBool) {
    fail(Code::dtype, name, " of ", c10::toString(dtype), " cannot be written to a table");
  }
  if (tensor.is_meta()) {
    fail(Code::device, name, " is on device \"meta\" and has no values");
  }
  return tensor.detach().to(at::kCPU, as).contiguous();
}

std::string joined(Path path, std::string_view separator) {
  std::string name;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i != 0) name += separator;
    name += path[i];
  }
  return name;
}

std::vector<EntryColumn> columns_of(const TensorDict& td, std::string_view separator) {
  std::vector<EntryColumn> columns;
  std::unordered_set<std::string> names;
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    const bool dictionary = value.is_node() && !is_opaque(*value.node());
    if (path.size() > 1 && separator.empty()) {
      fail(Code::invalid_argument, show_path(path),
           " is nested: a separator is needed to name its column");
    }
    if (dictionary) {
      if (as_dense(value.node().get()) == nullptr) {
        fail(Code::unsupported, show_path(path), " is a lazy stack: make it dense first");
      }
      return;
    }
    const SizesView sizes = value.is_node() ? value.node()->batch() : value.tensor().sizes();
    if (sizes.size() != 1) {
      fail(Code::shape, show_path(path), " has shape ", show_sizes(sizes),
           ": a column of a table has one dimension");
    }
    EntryColumn column{joined(path, separator), {}, {}};
    if (!names.insert(column.name).second) {
      fail(Code::key_exists, "two columns are called \"", column.name, "\"");
    }
    if (value.is_node()) {
      column.values = non_tensor_values(*value.node());
    } else {
      column.tensor = plain(show_path(path), value.tensor());
    }
    columns.push_back(std::move(column));
  });
  return columns;
}

// The shortest text that reads back as the same number.
template <class T>
void append_number(std::string& text, T number) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
  text.append(buffer, end.ptr);
}

// A number of floating dtype keeps a mark of it: 1.0, not 1.
template <class T>
void append_real(std::string& text, T number) {
  const std::size_t begin = text.size();
  append_number(text, number);
  if (std::isfinite(number) && text.find_first_of(".e", begin) == std::string::npos) text += ".0";
}

// What is no number in JSON is null.
template <class T>
void append_real_cell(std::string& text, T number, TableFormat format) {
  if (format == TableFormat::json && !std::isfinite(number)) {
    text += "null";
  } else if (format == TableFormat::csv && std::isnan(number)) {
    return;  // a missing value
  } else {
    append_real(text, number);
  }
}

void append_csv_text(std::string& text, std::string_view cell) {
  text += '"';
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

// A name needs quotes only where it would not be read as it is.
void append_csv_name(std::string& text, std::string_view name) {
  if (name.find_first_of(",\"\r\n") == std::string_view::npos && !name.empty()) {
    text += name;
  } else {
    append_csv_text(text, name);
  }
}

void append_value(std::string& text, const std::string& json, TableFormat format) {
  if (format == TableFormat::json) {
    text += json;
    return;
  }
  const char first = json.empty() ? 'n' : json.front();
  if (first == 'n') return;  // null: a missing value
  if (first == '"') {
    append_csv_text(text, nlohmann::json::parse(json).get_ref<const std::string&>());
  } else if (first == '[' || first == '{') {
    append_csv_text(text, json);
  } else {
    text += json;
  }
}

void append_cell(std::string& text, const EntryColumn& column, std::int64_t row,
                 TableFormat format) {
  const at::Tensor& tensor = column.tensor;
  if (!tensor.defined()) {
    append_value(text, column.values[static_cast<std::size_t>(row)]->json(), format);
    return;
  }
  switch (tensor.scalar_type()) {
    case at::kLong: append_number(text, tensor.data_ptr<std::int64_t>()[row]); return;
    case at::kFloat: append_real_cell(text, tensor.data_ptr<float>()[row], format); return;
    case at::kDouble: append_real_cell(text, tensor.data_ptr<double>()[row], format); return;
    default:
      const bool truth = tensor.data_ptr<bool>()[row];
      text += format == TableFormat::json ? (truth ? "true" : "false") : (truth ? "True" : "False");
  }
}

}  // namespace

std::string write_table(const TensorDict& td, const TableOptions& options) {
  if (td.batch_size().size() != 1) {
    fail(Code::shape, "a table has one batch dimension, the dictionary has batch size ",
         show_sizes(td.batch_size()));
  }
  const std::vector<EntryColumn> columns = columns_of(td, options.separator);
  const bool csv = options.format == TableFormat::csv;
  const std::int64_t rows = td.batch_size()[0];
  std::string text;
  if (csv) {
    if (columns.empty() && rows != 0) {
      fail(Code::invalid_argument, "a table without columns cannot have ", rows, " rows");
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i != 0) text += ',';
      append_csv_name(text, columns[i].name);
    }
    if (!columns.empty()) text += '\n';
  } else {
    text += '[';
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!csv) text += row == 0 ? "\n{" : ",\n{";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i != 0) text += ',';
      if (!csv) text += quote(columns[i].name) + ":";
      const std::size_t begin = text.size();
      append_cell(text, columns[i], row, options.format);
      // A line without anything would not be a row.
      if (csv && columns.size() == 1 && text.size() == begin) text += "nan";
    }
    text += csv ? "\n" : "}";
  }
  if (!csv) text += "\n]\n";
  return text;
}

void save_table(const TensorDict& td, const std::string& file, const TableOptions& options) {
  const std::string text = write_table(td, options);
  files::NewFile target(files::absolute(file));
  target.write(text.data(), text.size());
  target.close();
  target.commit();
}

}  // namespace td
