// Arrays of NumPy in .npy files.
#include "core/arrays/numpy.h"
#include "core/base/quote.h"
#include "core/formats/format.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"
#include "core/tree/engine.h"
#include "core/tree/lazy_ops.h"

#include <algorithm>
#include <deque>

namespace td::numpy {

namespace {

Sizes byte_strides(const Header& header) {
  if (!header.fortran_order) return dense_strides(header.sizes, header.item_bytes);
  Sizes turned(header.sizes.rbegin(), header.sizes.rend());
  Sizes strides = dense_strides(turned, header.item_bytes);
  std::reverse(strides.begin(), strides.end());
  return strides;
}

Header header_of(const FileBytes& file, const FileOptions& options) {
  return read_header(file.text(), file.where(), options.max_entries);
}

at::Tensor array_of(const FileBytes& file, const Header& header, std::string_view name) {
  const Column& column = header.columns[0];
  const std::optional<std::int64_t> bytes = checked_bytes(header.sizes, header.item_bytes);
  if (!bytes || static_cast<std::size_t>(*bytes) > file.size() - header.start) {
    fail(Code::format, file.where(), ": an array of shape ", show_sizes(header.sizes),
         " does not fit into ", file.size(), " bytes");
  }
  return file.tensor(header.start, header.sizes, byte_strides(header),
                     need_scalar_type(column.dtype, file.where()), column.swapped, name);
}

// The layout of a dictionary's tensors in a record, as in a C struct; nested dictionaries are nested records.
// Also builds NumPy's text of the dtype.
class RecordPlan : public WalkSink<Take::reads> {
 public:
  explicit RecordPlan(std::size_t batch_dims) : dims_(batch_dims) {}

  void enter(const Here& here, Dicts) {
    if (!here.is_root()) {
      separate();
      text_ += "(" + literal(field(here)) + ", ";
    }
    text_ += "[";
  }
  void leaf(const Here& here, Tensors tensors) { add(field(here), here.path(), *tensors[0]); }
  void value(const Here& here, NodesHere) {
    fail(Code::unsupported, quote(field(here)),
         " is not a tensor, and NumPy's files hold only tensors");
  }
  Made leave(const Here& here, bool) {
    if (here.is_root()) pad(largest_);  // for an array of records
    text_ += here.is_root() ? "]" : "])";
    return {};
  }

  std::string take_text() { return std::move(text_); }
  Layout layout() {
    fields_.clear();
    for (const Owned& owned : owned_) {
      views_.push_back(path_view(owned.path));
      fields_.push_back({views_.back(), owned.dtype, owned.sizes, owned.offset});
    }
    return {fields_, at_};
  }

 private:
  struct Owned {
    OwnedPath path;
    c10::ScalarType dtype;
    Sizes sizes;
    std::size_t offset;
  };

  static std::string field(const Here& here) {
    if (here.name().empty())
      fail(Code::key_invalid, "an array of records has no field without a name");
    return std::string(here.name());
  }
  void separate() {
    if (text_.back() != '[') text_ += ", ";
  }
  void pad(std::size_t to) {
    const std::size_t gap = (to - at_ % to) % to;
    if (gap == 0) return;
    separate();
    text_ += "('', '|V" + std::to_string(gap) + "')";
    at_ += gap;
  }

  void add(const std::string& name, Path path, const at::Tensor& tensor) {
    const std::size_t item = c10::elementSize(tensor.scalar_type());
    const std::string code = dtype_text(tensor.scalar_type(), name);
    pad(item);
    separate();
    text_ += "(" + literal(name) + ", " + literal(code);
    const SizesView sizes = tensor.sizes().slice(dims_);
    if (!sizes.empty()) {
      text_ += ", (";
      for (const std::int64_t size : sizes) text_ += std::to_string(size) + ", ";
      if (sizes.size() == 1) {
        text_.pop_back();
      } else {
        text_.resize(text_.size() - 2);
      }
      text_ += ")";
    }
    text_ += ")";
    owned_.push_back(
        {{path.begin(), path.end()}, tensor.scalar_type(), Sizes(sizes.begin(), sizes.end()), at_});
    std::size_t bytes = item;
    for (const std::int64_t size : sizes) bytes *= static_cast<std::size_t>(size);
    at_ += bytes;
    largest_ = std::max(largest_, item);
  }

  std::size_t dims_;
  std::string text_;
  std::vector<Owned> owned_;
  std::deque<std::vector<std::string_view>> views_;
  std::vector<Field> fields_;
  std::size_t at_ = 0;
  std::size_t largest_ = 1;
};

}  // namespace

std::string dtype_text(c10::ScalarType dtype, std::string_view name) {
  std::string text = dtype_text(dtype_of(dtype));
  if (text.empty()) {
    fail(Code::dtype, quote(name), " cannot be stored: NumPy has no dtype ", dtype_name(dtype));
  }
  return text;
}

std::string array_head(const at::Tensor& tensor, std::string_view name) {
  return head_of(literal(dtype_text(tensor.scalar_type(), name)), tensor.sizes());
}

at::Tensor load_array(const FileBytes& file, const FileOptions& options) {
  const Header header = header_of(file, options);
  if (header.records) {
    fail(Code::wrong_entry, file.where(), " holds records, which are read as a dictionary");
  }
  return array_of(file, header, nameless);
}

void save_array(const at::Tensor& tensor, const std::string& path, const FileOptions& options) {
  const std::string target = new_file_path(path);
  if (tensor.layout() != c10::kStrided || tensor.is_nested() || !tensor.has_storage()) {
    fail(Code::unsupported, "the tensor cannot be stored in this file: it is not a dense tensor");
  }
  if (tensor.is_meta()) fail(Code::device, "a tensor on meta has no values to store");
  const std::string head = array_head(tensor, nameless);
  files::NewFile file(target);
  file.write(head.data(), head.size());
  write_values(file, tensor);
  file.commit(options.durable);
}

TensorDict load(const FileBytes& file, const FileOptions& options) {
  const Header header = header_of(file, options);
  if (!header.records) {
    return build_tree(
        {{std::string(nameless), {std::string(nameless)}, array_of(file, header, nameless)}},
        nullptr, options, file.where());
  }
  std::deque<std::vector<std::string_view>> paths;
  std::deque<Sizes> sizes;
  std::vector<Field> fields;
  Records records;
  for (const Column& column : header.columns) {
    paths.push_back(path_view(column.path));
    sizes.emplace_back(column.sizes.begin(), column.sizes.end());
    fields.push_back(
        {paths.back(), need_scalar_type(column.dtype, file.where()), sizes.back(), column.offset});
    records.swapped.push_back(column.swapped);
  }
  records.start = header.start;
  records.batch.assign(header.sizes.begin(), header.sizes.end());
  records.first_index_fast = header.fortran_order;
  records.layout = {fields, header.item_bytes};
  if (options.batch_dims != 0 &&
      static_cast<std::size_t>(options.batch_dims) != header.sizes.size()) {
    fail(Code::shape, file.where(), ": records of shape ", show_sizes(header.sizes),
         " have as many batch dimensions, not ", options.batch_dims);
  }
  return read_records(file, records, options);
}

void save(const TensorDict& td, const std::string& path, const FileOptions& options) {
  const NodePtr root = dense_with_all_keys(td.node());
  if (!is_dict(*root)) fail(Code::wrong_entry, "a non-tensor value cannot be stored alone");
  if (entry_names(*root) == std::vector<std::string>{std::string(nameless)} &&
      kind_below(root, nameless) == EntryKind::tensor) {
    return save_array(entry_of(root, nameless)->tensor(), path, options);
  }
  RecordPlan plan(root->batch().size());
  walk(root, plan, all_paths());
  save_records(TensorDict(root), path, head_of(plan.take_text(), root->batch()), plan.layout(),
               options.durable);
}

}  // namespace td::numpy
