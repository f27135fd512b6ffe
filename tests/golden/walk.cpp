#include "walk.h"

#include <cctype>
#include <fstream>
#include <sstream>

extern "C" {
#include "td_sha256.h"
}

namespace golden {

namespace {

const char *name_of(td_dtype dtype) {
  switch (dtype) {
    case TD_DTYPE_BFLOAT16: return "torch.bfloat16";
    case TD_DTYPE_BOOL: return "torch.bool";
    case TD_DTYPE_COMPLEX32: return "torch.complex32";
    case TD_DTYPE_COMPLEX64: return "torch.complex64";
    case TD_DTYPE_COMPLEX128: return "torch.complex128";
    case TD_DTYPE_FLOAT16: return "torch.float16";
    case TD_DTYPE_FLOAT32: return "torch.float32";
    case TD_DTYPE_FLOAT64: return "torch.float64";
    case TD_DTYPE_INT8: return "torch.int8";
    case TD_DTYPE_INT16: return "torch.int16";
    case TD_DTYPE_INT32: return "torch.int32";
    case TD_DTYPE_INT64: return "torch.int64";
    case TD_DTYPE_UINT8: return "torch.uint8";
    case TD_DTYPE_UINT16: return "torch.uint16";
    case TD_DTYPE_UINT32: return "torch.uint32";
    case TD_DTYPE_UINT64: return "torch.uint64";
    default: return "another dtype";
  }
}

template <class Call>
Sizes sizes(Call call) {
  size_t dims = 0;
  check(call(nullptr, 0, &dims));
  Sizes result(dims);
  if (dims != 0) check(call(result.data(), dims, &dims));
  return result;
}

Sizes sizes_of(const td_tensor *tensor) {
  return sizes([&](auto... room) { return td_tensor_sizes(tensor, room...); });
}

Sizes batch_of(const td_tensordict *td) {
  return sizes([&](auto... room) { return td_batch_size(td, room...); });
}

template <class Call>
std::string text(Call call) {
  size_t length = 0;
  check(call(nullptr, 0, &length));
  std::string result(length + 1, '\0');
  check(call(result.data(), result.size(), &length));
  result.resize(length);
  return result;
}

std::string digest(const td_tensor *tensor) {
  const auto dense =
      made<Tensor>([&](auto result) { return td_tensor_contiguous(tensor, result); });
  void *data = nullptr;
  size_t bytes = 0;
  check(td_tensor_nbytes(dense.get(), &bytes));
  if (bytes != 0) check(td_tensor_data(dense.get(), &data));
  char digits[65];
  td_sha256(data, bytes, digits);
  return digits;
}

class Walk {
 public:
  Content run(const td_tensordict *root) {
    pending_.push_back({{}, made<Dict>([&](auto result) { return td_dup(root, result); })});
    while (!pending_.empty()) {
      const auto at = std::move(pending_.back());
      pending_.pop_back();
      step(at.path, at.td.get());
    }
    return std::move(content_);
  }

 private:
  using Path = std::vector<std::string>;
  struct Pending {
    Path path;
    Dict td;
  };

  void step(const Path &path, const td_tensordict *td) {
    td_dict_kind kind = 0;
    check(td_kind(td, &kind));
    Node node;
    node.type = kind == TD_DICT_LAZY_STACK       ? "LazyStackedTensorDict"
                : kind == TD_DICT_SUB_TENSORDICT ? "_SubTensorDict"
                                                 : "TensorDict";
    node.batch = batch_of(td);
    note_tensorclass(path, td, node);
    note_names(td, node);
    if (kind == TD_DICT_LAZY_STACK) {
      elements(path, td, node);
    } else {
      entries(path, td);
    }
    content_.nodes[text_of(path)] = std::move(node);
  }

  void note_tensorclass(const Path &path, const td_tensordict *td, Node &node) {
    td_tensorclass *type = nullptr;
    check(td_tensorclass_of(td, &type));
    if (type == nullptr) return;
    node.tensorclass = text([&](auto... room) { return td_tensorclass_name(type, room...); });
    const size_t n = td_tensorclass_len(type);
    for (size_t i = 0; i < n; ++i) {
      td_field field = {};
      td_entry_kind kind = 0;
      check(td_tensorclass_field(type, i, &field));
      check(td_get_kind(td, &field.name, 1, &kind));
      if (kind != TD_ENTRY_NONE) continue;
      Path inner = path;
      inner.emplace_back(field.name);
      content_.empty_fields.push_back(text_of(inner));
    }
    td_tensorclass_free(type);
  }

  static void note_names(const td_tensordict *td, Node &node) {
    const auto names = made<Keys>([&](auto result) { return td_names(td, result); });
    bool any = false;
    for (size_t i = 0; i < td_keys_len(names.get()); ++i) {
      const char *const *name = nullptr;
      size_t n = 0;
      check(td_keys_at(names.get(), i, &name, &n));
      node.names.push_back(n == 0 ? Json() : Json(name[0]));
      any = any || n != 0;
    }
    if (!any) node.names.clear();
  }

  void elements(const Path &path, const td_tensordict *td, Node &node) {
    size_t n = 0;
    check(td_lazy_info(td, &node.stack_dim, &n));
    for (size_t i = 0; i < n; ++i) {
      td_index_item all = {}, one = {};
      all.kind = TD_INDEX_SLICE;
      one.kind = TD_INDEX_INT;
      one.start = static_cast<std::int64_t>(i);
      std::vector<td_index_item> items(static_cast<size_t>(node.stack_dim), all);
      items.push_back(one);
      Path inner = path;
      inner.push_back("#" + std::to_string(i));
      pending_.push_back({inner, made<Dict>([&](auto result) {
                            return td_index(td, items.data(), items.size(), result);
                          })});
    }
  }

  void entries(const Path &path, const td_tensordict *td) {
    const auto keys = made<Keys>([&](auto result) { return td_keys_of(td, nullptr, result); });
    for (size_t i = 0; i < td_keys_len(keys.get()); ++i) {
      const char *const *name = nullptr;
      size_t names = 0;
      td_entry_kind kind = 0;
      check(td_keys_at(keys.get(), i, &name, &names));
      check(td_keys_kind_at(keys.get(), i, &kind));
      Path inner = path;
      inner.emplace_back(name[0]);
      switch (kind) {
        case TD_ENTRY_DICT:
          pending_.push_back(
              {inner, made<Dict>([&](auto result) { return td_get_dict(td, name, 1, result); })});
          break;
        case TD_ENTRY_NON_TENSOR: data(inner, td, name); break;
        case TD_ENTRY_NESTED_TENSOR: nested_tensor(inner, td, name); break;
        default: leaf(inner, td, name);
      }
    }
  }

  void leaf(const Path &path, const td_tensordict *td, const char *const *name) {
    const auto tensor = made<Tensor>([&](auto result) { return td_get(td, name, 1, result); });
    Leaf &found = content_.leaves[text_of(path)];
    found.shape = sizes_of(tensor.get());
    found.sha256 = digest(tensor.get());
    found.dtype = dtype_of(tensor.get());
  }

  static std::string dtype_of(const td_tensor *tensor) {
    td_dtype dtype = 0;
    check(td_tensor_dtype(tensor, &dtype));
    return name_of(dtype);
  }

  void nested_tensor(const Path &path, const td_tensordict *td, const char *const *name) {
    const auto entry =
        made<Dict>([&](auto result) { return td_get_nested_tensor(td, name, 1, result); });
    td_tensor *values = nullptr, *table = nullptr;
    check(td_nested_tensor_values(entry.get(), &values, &table));
    const Tensor own_values(values), own_table(table);
    Leaf &found = content_.leaves[text_of(path)];
    found.is_nested_tensor = true;
    found.dtype = dtype_of(values);
    found.sha256 = digest(values);
    const Sizes shape = sizes_of(table);
    void *rows = nullptr;
    check(td_tensor_data(table, &rows));
    const auto *row = static_cast<const std::int64_t *>(rows);
    for (std::int64_t i = 0; i < shape[0]; ++i, row += shape[1]) {
      found.parts.emplace_back(row, row + shape[1]);
    }
  }

  void data(const Path &path, const td_tensordict *td, const char *const *name) {
    const std::string json =
        text([&](auto... room) { return td_get_non_tensor_json(td, name, 1, room...); });
    content_.data[text_of(path)] = parse(json);
    // Alone in a dictionary, whose text says which kind of value it is.
    const auto copy =
        made<Dict>([&](auto result) { return td_clone(td, TD_CLONE_SHALLOW, result); });
    td_entry_kind kind = 0;
    td_tensor *tensor = nullptr;
    td_tensordict *dict = nullptr;
    check(td_pop(copy.get(), name, 1, &kind, &tensor, &dict));
    const Dict holder(dict);
    const std::string printed = text([&](auto... room) { return td_to_string(dict, room...); });
    const bool stack = printed.find(": NonTensorStack}") != std::string::npos;
    Node node;
    node.type = stack ? "NonTensorStack" : "NonTensorData";
    node.batch = batch_of(dict);
    content_.nodes[text_of(path)] = std::move(node);
  }

  std::vector<Pending> pending_;
  Content content_;
};

}  // namespace

Content content_of(const td_tensordict *root) { return Walk().run(root); }

std::string text_of(const std::vector<std::string> &path) { return Json(path).dump(); }

Json parse(const std::string &text) {
  std::string clean;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      clean += c;
      if (c == '\\' && i + 1 < text.size()) clean += text[++i];
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    bool replaced = false;
    constexpr const char *words[][2] = {{"NaN", "nan"}, {"-Infinity", "-inf"}, {"Infinity", "inf"}};
    for (const auto &[spelled, called] : words) {
      const std::string word = spelled;
      if (text.compare(i, word.size(), word) != 0) continue;
      clean += std::string("{\"float\":\"") + called + "\"}";
      i += word.size() - 1;
      replaced = true;
      break;
    }
    if (!replaced) clean += c;
  }
  return Json::parse(clean);
}

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read \"" + path + "\"");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace golden
