#include "core/store/entry.h"

#include "core/store/request.h"
#include "core/store/store.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/pickle/pickled.h"
#include "core/tensor/assign.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <random>

namespace td::store {

namespace {

constexpr std::size_t max_objects = 1'000'000;  // of a pickle

// How an entry of a lazy stack lies in the server.
void read_layout(Meta& meta, const std::vector<Answer>& fields, const Form& form,
                 const std::string& where) {
  meta.layout_text = fields[6].text_or_nil("layout").value_or("");
  const Sizes inner = form.inner();
  if (fields[4].text_or_nil("homogeneous").value_or("1") != "1") {
    meta.shapes_text = fields[5].text("the shapes of the elements");
    const Plain list = read_json(meta.shapes_text, where, 3);
    if (list.is(Plain::list)) {
      for (const Plain& shape : list.items()) meta.shapes.push_back(sizes_of(shape, where));
    }
    const bool fit = std::all_of(meta.shapes.begin(), meta.shapes.end(),
                                 [&](const Sizes& shape) { return begins_with(shape, inner); });
    if (!fit || form.count() == 0 || meta.shapes.size() != static_cast<std::size_t>(form.count())) {
      fail(Code::format, where, ": its shapes do not fit a stack of ", form.count(),
           " elements of batch size ", show_sizes(inner));
    }
    meta.front = *form.stack_dim;
    return;
  }
  // Python stacks along the stack dimension, or along a new one in front; the shape tells, and where it fits
  // both, the layout.
  Sizes in_front{form.count()};
  in_front.append(inner.begin(), inner.end());
  const bool front = begins_with(meta.sizes, in_front), batch = begins_with(meta.sizes, form.batch);
  if (*form.stack_dim == 0 || !front || (batch && meta.layout_text != "stack")) return;
  meta.front = *form.stack_dim;
  std::rotate(meta.sizes.begin(), meta.sizes.begin() + 1, meta.sizes.begin() + 1 + meta.front);
}

}  // namespace

std::string random_id() {
  std::random_device numbers;
  std::string id;
  constexpr char digits[] = "0123456789abcdef";
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) id += '-';
    unsigned digit = numbers() & 15;
    if (i == 12) digit = 4;
    if (i == 16) digit = 8 | (digit & 3);
    id += digits[digit];
  }
  return id;
}

std::string joined(Path path) {
  check_path(path);
  std::string result;
  for (const std::string_view& name : path) {
    if (name.find('.') != std::string_view::npos) {
      fail(Code::key_invalid, show_path(path),
           " cannot lie in a store: a name with a dot would be a path there");
    }
    if (&name != &path.front()) result += '.';
    result += name;
  }
  return result;
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> names;
  for (std::size_t at = 0;;) {
    const std::size_t end = path.find('.', at);
    names.emplace_back(path.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return names;
    at = end + 1;
  }
}

void check_stored_path(std::string_view path, const std::string& where) {
  if (is_utf8(path) && path.find('\0') == std::string_view::npos) return;
  fail(Code::format, where, ": the name of an entry is not UTF-8, or holds a zero byte");
}

std::int64_t Meta::bytes() const { return shapes.empty() ? bytes_behind(0) : offset(-1); }

std::int64_t Meta::bytes_behind(std::size_t dims) const {
  const auto result = checked_bytes(SizesView(sizes).slice(dims), c10::elementSize(dtype));
  if (result) return *result;
  fail(Code::format, "sizes of ", show_sizes(sizes), " are more than any tensor has");
}

// -1: where the last one ends.
std::int64_t Meta::offset(std::int64_t number) const {
  const std::size_t end = number < 0 ? shapes.size() : static_cast<std::size_t>(number);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < end; ++i) {
    const auto one = checked_bytes(shapes[i], c10::elementSize(dtype));
    if (!one || __builtin_add_overflow(bytes, *one, &bytes)) {
      fail(Code::format, "sizes of ", show_sizes(shapes[i]),
           " and others are more than any tensor has");
    }
  }
  return bytes;
}

Meta Meta::element(std::int64_t number) const {
  Meta one;
  one.sizes = shapes[static_cast<std::size_t>(number)];
  one.dtype = dtype;
  one.dtype_text = dtype_text;
  return one;
}

Sizes Meta::stored_sizes() const {
  Sizes stored = sizes;
  if (front == 0) return stored;
  std::rotate(stored.begin(), stored.begin() + front, stored.begin() + front + 1);
  return stored;
}

bool Meta::operator==(const Meta& other) const {
  return is_tensor == other.is_tensor && shape_text == other.shape_text &&
         dtype_text == other.dtype_text && encoding == other.encoding &&
         shapes_text == other.shapes_text && layout_text == other.layout_text;
}

void ask_meta(Request& request, const ServerKeys& keys, std::string_view path, const Form& form) {
  const std::string key = keys.meta(path);
  if (form.stack_dim) {
    return request.add({"HMGET", key, "shape", "dtype", "is_non_tensor", "encoding", "homogeneous",
                        "shapes", "layout"});
  }
  request.add({"HMGET", key, "shape", "dtype", "is_non_tensor", "encoding"});
}

bool has_meta(const std::vector<Answer>& fields) {
  for (const Answer& field : fields) {
    if (!field.is_nil()) return true;
  }
  return false;
}

Meta read_meta(const Answer& answer, const Form& form, const std::string& where) {
  const std::vector<Answer> fields =
      answer.list("the metadata of an entry", form.stack_dim ? 7 : 4);
  Meta meta;
  const auto flag = fields[2].text_or_nil("is_non_tensor");
  if (flag && *flag == "1") {
    meta.is_tensor = false;
    meta.encoding = fields[3].text_or_nil("encoding").value_or("pickle");
    if (meta.encoding == "json" || meta.encoding == "json_array" || meta.encoding == "pickle") {
      return meta;
    }
    fail(Code::unsupported, where, ": a value in an encoding that is not known");
  }
  const auto shape = fields[0].text_or_nil("shape"), dtype = fields[1].text_or_nil("dtype");
  if (!shape || !dtype) {
    fail(Code::format, where, ": no ", shape ? "dtype" : "shape", " is stored with its bytes");
  }
  meta.shape_text = *shape;
  meta.dtype_text = *dtype;
  meta.sizes = parse_sizes(*shape, where);
  constexpr std::size_t longest = 64;
  if (dtype->size() > longest || !is_utf8(*dtype)) fail(Code::format, where, ": this is no dtype");
  meta.dtype = parse_dtype(*dtype, where);
  if (form.stack_dim) read_layout(meta, fields, form, where);
  return meta;
}

std::string_view value_bytes(const Answer& answer, const Meta& meta, const std::string& where) {
  const auto bytes = answer.text_or_nil("a value");
  if (!bytes && !(meta.is_tensor && meta.bytes() == 0)) {
    fail(Code::format, where, ": its bytes are missing");
  }
  return bytes.value_or(std::string_view());
}

at::Tensor tensor_of(std::string_view bytes, const Meta& meta, SizesView sizes,
                     const std::string& where) {
  const auto wanted = checked_bytes(sizes, c10::elementSize(meta.dtype));
  if (!wanted || bytes.size() != static_cast<std::uint64_t>(*wanted)) {
    fail(Code::format, where, ": ", bytes.size(), " bytes, where ", meta.dtype_text, " of ",
         show_sizes(sizes), " has ", wanted.value_or(-1));
  }
  at::Tensor result = from_bytes(bytes.data(), bytes.size(), meta.dtype, sizes);
  if (meta.dtype == at::kBool) make_bools_valid(result);
  return result;
}

at::Tensor whole_of(std::string_view bytes, const Meta& meta, const std::string& where) {
  if (!meta.shapes.empty()) {
    fail(Code::shape, where,
         ": the elements of the stack differ in shape: take one of them, or the "
         "whole dictionary");
  }
  const at::Tensor stored = tensor_of(bytes, meta, meta.stored_sizes(), where);
  return meta.front == 0 ? stored : stored.movedim(0, meta.front).contiguous();
}

std::vector<at::Tensor> elements_of(std::string_view bytes, const Meta& meta, const Form& form,
                                    const std::string& where) {
  if (meta.shapes.empty()) return whole_of(bytes, meta, where).unbind(*form.stack_dim);
  if (bytes.size() != static_cast<std::uint64_t>(meta.bytes())) {
    fail(Code::format, where, ": ", bytes.size(), " bytes, where its elements have ", meta.bytes());
  }
  std::vector<at::Tensor> elements;
  for (const Sizes& shape : meta.shapes) {
    const auto size = static_cast<std::size_t>(*checked_bytes(shape, c10::elementSize(meta.dtype)));
    elements.push_back(tensor_of(bytes.substr(0, size), meta, shape, where));
    bytes.remove_prefix(size);
  }
  return elements;
}

Plain plain_of(std::string_view bytes, const Meta& meta, const std::string& where) {
  if (meta.encoding == "pickle") {
    const pickled::Pickle pickle = pickled::read(bytes, where, max_objects);
    std::size_t most = pickle.most_text;
    return pickled::plain_of(pickle, pickle.root, most, where);
  }
  return read_value(bytes, where);
}

at::Tensor plain(const at::Tensor& tensor, std::string_view path) {
  if (!tensor.defined() || tensor.layout() != c10::kStrided || tensor.is_nested() ||
      tensor.is_quantized() || stored_name(tensor.scalar_type()).empty()) {
    fail(Code::unsupported, quote(path), " cannot lie in a store: it is not a dense tensor");
  }
  if (tensor.is_meta()) {
    fail(Code::device, quote(path), " cannot lie in a store: it is on meta and has no values");
  }
  return plain_values(tensor);
}

std::string_view bytes_view(const at::Tensor& plain) {
  if (plain.numel() == 0) return {};
  return {static_cast<const char*>(plain.data_ptr()), plain.nbytes()};
}

}  // namespace td::store
