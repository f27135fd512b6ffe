#include "core/store/entry.h"

#include "core/store/request.h"
#include "core/store/store.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/pickle/pickled.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"

#include <ATen/ATen.h>

#include <random>

namespace td::store {

namespace {

constexpr std::size_t max_objects = 1'000'000;  // of a pickle

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

std::int64_t Meta::bytes_behind(std::size_t dims) const {
  const auto result = checked_bytes(SizesView(sizes).slice(dims), c10::elementSize(dtype));
  if (result) return *result;
  fail(Code::format, "sizes of ", show_sizes(sizes), " are more than any tensor has");
}

bool Meta::operator==(const Meta& other) const {
  return is_tensor == other.is_tensor && shape_text == other.shape_text &&
         dtype_text == other.dtype_text && encoding == other.encoding;
}

void ask_meta(Request& request, const ServerKeys& keys, std::string_view path) {
  request.add({"HMGET", keys.meta(path), "shape", "dtype", "is_non_tensor", "encoding"});
}

bool has_meta(const std::vector<Answer>& fields) {
  for (const Answer& field : fields) {
    if (!field.is_nil()) return true;
  }
  return false;
}

Sizes parse_sizes(std::string_view text, const std::string& where) {
  constexpr std::size_t longest = 4096;
  if (text.size() > longest) fail(Code::format, where, ": sizes of ", text.size(), " characters");
  const Plain tree = read_json(text, where, 2);
  Sizes sizes;
  if (tree.is(Plain::list) && tree.items().size() <= max_dims) {
    for (const Plain& item : tree.items()) {
      if (!item.is(Plain::integer) || item.integral() < 0) break;
      sizes.push_back(item.integral());
    }
    if (sizes.size() == tree.items().size() && checked_bytes(sizes, 16)) return sizes;
  }
  fail(Code::format, where, ": sizes are a list of up to ", max_dims, " numbers, and not this");
}

Meta read_meta(const Answer& answer, const std::string& where) {
  const std::vector<Answer> fields = answer.list("the metadata of an entry", meta_fields);
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

Plain plain_of(std::string_view bytes, const Meta& meta, const std::string& where) {
  if (meta.encoding == "pickle") {
    const pickled::Pickle pickle = pickled::read(bytes, where, max_objects);
    std::size_t most = bytes.size() * 8 + 1024;
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
  if (tensor.nbytes() > static_cast<std::size_t>(max_value_bytes)) {
    fail(Code::capacity, quote(path), " has ", tensor.nbytes(), " bytes; a server keeps ",
         max_value_bytes, " at most: store it in several entries");
  }
  return plain_values(tensor);
}

std::string_view bytes_view(const at::Tensor& plain) {
  if (plain.numel() == 0) return {};
  return {static_cast<const char*>(plain.data_ptr()), plain.nbytes()};
}

}  // namespace td::store
