// Writes tables to text files.
#include "core/formats/format.h"
#include "core/io/new_file.h"
#include "core/tables/cells.h"
#include "core/tables/columns.h"
#include "core/tables/table.h"
#include "core/tensor/assign.h"
#include "core/tensor/dtype.h"
#include "core/tree/lazy_node.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace td {

namespace {

// An entry, converted a few rows at a time, so that the table needs no copy of it.
struct TableSource {
  std::string shown;                         // path, for messages
  at::Tensor rows;                           // [rows, elements of a row]; or undefined
  std::vector<const NonTensorNode*> values;  // without a tensor: one for each row
  at::Tensor block = {};                     // some rows, as int64, float, double or bool
  bool natural = false;                      // the int64 are the bits of uint64
};

struct EntryColumn {
  std::string name;
  std::size_t source;
  std::int64_t element;  // of a row
};

// A dictionary without lazy stacks. A lazy stack has a part for each element.
struct TablePart {
  std::vector<std::int64_t> place;  // its position in lazy stacks
  Sizes batch;
  std::int64_t count = 0;  // of rows
  std::vector<TableSource> sources;
  std::vector<EntryColumn> columns;
};

constexpr std::int64_t table_block_rows = 1024;
constexpr std::size_t table_block_bytes = std::size_t{1} << 20;

void check_table_dtype(const std::string& name, const at::Tensor& tensor) {
  const c10::ScalarType dtype = tensor.scalar_type();
  const bool known = at::isIntegralType(dtype, /*includeBool=*/true) || dtype == at::kHalf ||
                     dtype == at::kBFloat16 || dtype == at::kFloat || dtype == at::kDouble;
  if (!known) fail(Code::dtype, name, " of ", dtype_name(dtype), " cannot be written to a table");
  if (tensor.is_meta()) fail(Code::device, name, " is on device \"meta\" and has no values");
}

bool is_uint64(const at::Tensor& tensor) noexcept {
  return dtype_of(tensor.scalar_type()) == DType::uint64;
}

// Converts to one of four dtypes, contiguous on the CPU.
at::Tensor plain(const at::Tensor& tensor) {
  c10::ScalarType as = tensor.scalar_type();
  if (is_uint64(tensor)) return tensor.detach().to(at::kCPU).contiguous().view(at::kLong);
  if (at::isIntegralType(as, /*includeBool=*/false)) as = at::kLong;
  if (as == at::kHalf || as == at::kBFloat16) as = at::kFloat;
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

// "[1,0]": the element of a row.
std::string element_suffix(std::int64_t element, SizesView sizes) {
  std::string text;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    text.insert(0, (i == 0 ? "[" : ",") + std::to_string(element % sizes[i]));
    element /= sizes[i];
  }
  return text.empty() ? text : text + "]";
}

void add_tensor_columns(TablePart& part, const std::string& name, const std::string& shown,
                        const at::Tensor& tensor) {
  check_table_dtype(shown, tensor);
  const SizesView sizes = tensor.sizes().slice(part.batch.size());
  const std::int64_t elements = count_elements(sizes);
  for (std::int64_t i = 0; i < elements; ++i)
    part.columns.push_back({name + element_suffix(i, sizes), part.sources.size(), i});
  part.sources.push_back({shown, tensor.reshape({part.count, elements}), {}});
  part.sources.back().natural = is_uint64(tensor);
}

void fill_table_part(TablePart& part, const TensorDict& td, const TableOptions& options) {
  part.batch = Sizes(td.batch_size());
  part.count = count_elements(part.batch);
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (path.size() > 1 && options.separator.empty()) {
      fail(Code::invalid_argument, show_path(path),
           " is nested: a separator is needed to name its column");
    }
    if (is_dict(value)) {
      if (!is_branch(value)) {
        fail(Code::unsupported, show_path(path), " is a lazy stack: make it dense first");
      }
      return;
    }
    const std::string name = joined(path, options.separator);
    const SizesView sizes = value.is_node() ? value.node()->batch() : value.tensor().sizes();
    if (sizes.size() != 1 && !options.flatten) {
      fail(Code::shape, show_path(path), " has shape ", show_sizes(sizes),
           ": a column of a table has one dimension");
    }
    // A nested dictionary may have lost its batch dimensions, or have more; a tensor has a column for each element.
    if (value.is_node() ? sizes != SizesView(part.batch) : !begins_with(sizes, part.batch)) {
      fail(Code::shape, show_path(path), " has shape ", show_sizes(sizes),
           ", and a table of batch size ", show_sizes(part.batch),
           " has one value of it for each row");
    }
    if (!value.is_node()) {
      add_tensor_columns(part, name, show_path(path), value.tensor());
      return;
    }
    part.columns.push_back({name, part.sources.size(), 0});
    part.sources.push_back({show_path(path), {}, non_tensor_values(*value.node())});
  });
}

void collect_table_parts(const TensorDict& td, const TableOptions& options,
                         std::vector<std::int64_t>& place, std::vector<TablePart>& parts) {
  const std::optional<std::int64_t> dim = stack_dim_of(*td.node());
  if (!dim || !is_dict(*td.node()) || !options.flatten) {
    parts.push_back({place, {}, 0, {}, {}});
    fill_table_part(parts.back(), td, options);
    return;
  }
  if (*dim != 0) {
    fail(Code::unsupported, "a lazy stack along dimension ", *dim,
         " cannot be written to a table: make it dense first");
  }
  std::int64_t i = 0;
  for (const NodePtr& element : stacked(*td.node())) {
    place.push_back(i++);
    collect_table_parts(TensorDict(element), options, place, parts);
    place.pop_back();
  }
}

// The column names; the first ones count the batch dimensions.
struct TableHeads {
  std::vector<std::string> names;
  std::size_t counters = 0;
  std::unordered_map<std::string, std::size_t> places = {};

  void add(const std::string& name) {
    if (!places.emplace(name, names.size()).second)
      fail(Code::key_exists, "two columns are called \"", name, "\"");
    names.push_back(name);
  }
};

TableHeads table_heads(const std::vector<TablePart>& parts, std::size_t dims) {
  TableHeads heads;
  if (dims > 1) heads.counters = dims;
  for (std::size_t i = 0; i < heads.counters; ++i) heads.add(counter_name(i, dims));
  for (const TablePart& part : parts) {
    std::unordered_set<std::string> own;
    for (const EntryColumn& column : part.columns) {
      const auto found = heads.places.find(column.name);
      const bool counter = found != heads.places.end() && found->second < heads.counters;
      if (!own.insert(column.name).second || counter)
        fail(Code::key_exists, "two columns are called \"", column.name, "\"");
      if (found == heads.places.end()) heads.add(column.name);
    }
  }
  return heads;
}

void append_cell(std::string& text, const TableSource& source, std::int64_t row,
                 std::int64_t in_block, TableFormat format) {
  const at::Tensor& block = source.block;
  if (!block.defined()) {
    append_value(text, source.values[static_cast<std::size_t>(row)]->value(), format);
    return;
  }
  switch (block.scalar_type()) {
    case at::kLong: {
      const std::int64_t number = block.data_ptr<std::int64_t>()[in_block];
      if (source.natural) return append_digits(text, static_cast<std::uint64_t>(number));
      return append_digits(text, number);
    }
    case at::kFloat: append_real_cell(text, block.data_ptr<float>()[in_block], format); return;
    case at::kDouble: append_real_cell(text, block.data_ptr<double>()[in_block], format); return;
    default:
      const bool truth = block.data_ptr<bool>()[in_block];
      text += format == TableFormat::json ? (truth ? "true" : "false") : (truth ? "True" : "False");
  }
}

// Writes text in pieces.
class TableWriter {
 public:
  using Take = std::function<void(std::string&)>;

  TableWriter(const TableHeads& heads, TableFormat format, const Take& take)
      : heads_(heads), csv_(format == TableFormat::csv), format_(format), take_(take) {}

  void begin() {
    if (!csv_) text_ += '[';
    for (std::size_t i = 0; csv_ && i < heads_.names.size(); ++i) {
      if (i != 0) text_ += ',';
      append_csv_name(text_, heads_.names[i]);
    }
    if (csv_ && !heads_.names.empty()) text_ += '\n';
  }

  void add(TablePart& part) {
    std::vector<std::size_t> columns(heads_.names.size(), absent);
    for (std::size_t i = 0; i < part.columns.size(); ++i)
      columns[heads_.places.at(part.columns[i].name)] = i;
    for (std::int64_t from = 0; from < part.count; from += table_block_rows) {
      const std::int64_t count = std::min(table_block_rows, part.count - from);
      for (TableSource& source : part.sources) {
        if (source.rows.defined()) source.block = plain(source.rows.narrow(0, from, count));
      }
      for (std::int64_t row = from; row < from + count; ++row) {
        add_row(part, columns, row, row - from);
        if (text_.size() >= table_block_bytes) take_(text_);
      }
    }
    for (TableSource& source : part.sources) source.block = at::Tensor();
  }

  void finish() {
    if (!csv_) text_ += "\n]\n";
    take_(text_);
  }

 private:
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);

  std::int64_t counter(const TablePart& part, std::size_t dim, std::int64_t row) const {
    if (dim < part.place.size()) return part.place[dim];
    for (std::size_t i = part.batch.size(); i-- > dim - part.place.size() + 1;)
      row /= part.batch[i];
    return row % part.batch[dim - part.place.size()];
  }

  void add_row(const TablePart& part, const std::vector<std::size_t>& columns, std::int64_t row,
               std::int64_t in_block) {
    if (!csv_) text_ += rows_ == 0 ? "\n{" : ",\n{";
    bool first = true;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool counts = i < heads_.counters;
      const bool there = counts || columns[i] != absent;
      if (!there && !csv_) continue;
      if (!first) text_ += ',';
      first = false;
      if (!csv_) text_ += quote(heads_.names[i]) + ":";
      const std::size_t begin = text_.size();
      if (counts) {
        append_digits(text_, counter(part, i, row));
      } else if (there) {
        const EntryColumn& column = part.columns[columns[i]];
        const TableSource& source = part.sources[column.source];
        const std::int64_t width = source.block.defined() ? source.block.size(1) : 1;
        append_cell(text_, source, row, in_block * width + column.element, format_);
      }
      // An empty line would not be a row.
      if (csv_ && columns.size() == 1 && text_.size() == begin) text_ += "nan";
    }
    text_ += csv_ ? "\n" : "}";
    ++rows_;
  }

  const TableHeads& heads_;
  bool csv_;
  TableFormat format_;
  const Take& take_;
  std::string text_;
  std::int64_t rows_ = 0;
};

// Checks everything before the first piece.
void write_pieces(const TensorDict& td, const TableOptions& options,
                  const TableWriter::Take& take) {
  const std::size_t dims = td.batch_size().size();
  if (options.flatten ? dims == 0 : dims != 1) {
    fail(Code::shape, "a table has ", options.flatten ? "at least " : "",
         "one batch dimension, the dictionary has batch size ", show_sizes(td.batch_size()));
  }
  std::vector<TablePart> parts;
  std::vector<std::int64_t> place;
  collect_table_parts(td, options, place, parts);
  const TableHeads heads = table_heads(parts, dims);
  std::int64_t rows = 0;
  for (const TablePart& part : parts) rows += part.count;
  if (options.format == TableFormat::csv && heads.names.empty() && rows != 0) {
    fail(Code::invalid_argument, "a table without columns cannot have ", rows, " rows");
  }
  TableWriter writer(heads, options.format, take);
  writer.begin();
  for (TablePart& part : parts) writer.add(part);
  writer.finish();
}

}  // namespace

std::string counter_name(std::size_t dim, std::size_t dims) {
  if (dims == 2) return dim == 0 ? "episode" : "step";
  return "dim" + std::to_string(dim);
}

std::string write_table(const TensorDict& td, const TableOptions& options) {
  std::string text;
  write_pieces(td, options, [&](std::string& piece) {
    text += piece;
    piece.clear();
  });
  return text;
}

void save_table(const TensorDict& td, const std::string& file, const TableOptions& options) {
  files::NewFile target(files::absolute(file));
  write_pieces(td, options, [&](std::string& piece) {
    target.write(piece.data(), piece.size());
    piece.clear();
  });
  target.commit();
}

}  // namespace td
