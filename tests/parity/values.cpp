#include "values.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace parity {
namespace {

const std::map<std::string, td_dtype> kDtypes = {
    {"uint8", TD_DTYPE_UINT8},     {"int8", TD_DTYPE_INT8},
    {"int16", TD_DTYPE_INT16},     {"int32", TD_DTYPE_INT32},
    {"int64", TD_DTYPE_INT64},     {"float16", TD_DTYPE_FLOAT16},
    {"float32", TD_DTYPE_FLOAT32}, {"float64", TD_DTYPE_FLOAT64},
    {"bool", TD_DTYPE_BOOL},       {"complex64", TD_DTYPE_COMPLEX64},
    {"uint16", TD_DTYPE_UINT16},   {"bfloat16", TD_DTYPE_BFLOAT16},
    {"uint32", TD_DTYPE_UINT32},
};

std::string dtype_name(td_dtype dtype) {
  for (const auto &[name, number] : kDtypes) {
    if (number == dtype) return name;
  }
  return "dtype " + std::to_string(dtype);
}

template <class Element>
Tensor tensor_from(const std::vector<Element> &values, td_dtype dtype,
                   const std::vector<int64_t> &sizes) {
  return made<Tensor>([&](auto result) {
    return td_tensor_from_data(values.data(), values.size() * sizeof(Element), sizes.data(),
                               sizes.size(), dtype, result);
  });
}

Tensor converted(const td_tensor *tensor, td_dtype dtype) {
  return made<Tensor>(
      [&](auto result) { return td_tensor_to(tensor, dtype, TD_DEVICE_NONE, -1, result); });
}

}  // namespace

std::vector<const char *> names_of(const Path &path) {
  std::vector<const char *> names;
  for (const std::string &name : path) names.push_back(name.c_str());
  return names;
}

namespace {

int64_t elements(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

template <class Element>
Json list_of(const td_tensor *tensor, td_dtype wide) {
  const Tensor same = converted(tensor, wide);
  size_t bytes = 0;
  check(td_tensor_nbytes(same.get(), &bytes));
  std::vector<Element> values(bytes / sizeof(Element));
  check(td_tensor_copy_to(same.get(), values.data(), bytes));
  return values;
}

Json values_of(const td_tensor *tensor, td_dtype dtype) {
  switch (dtype) {
    case TD_DTYPE_BOOL: {
      Json list = Json::array();
      for (const Json &bit : list_of<int64_t>(tensor, TD_DTYPE_INT64)) list.push_back(bit != 0);
      return list;
    }
    case TD_DTYPE_FLOAT16:
    case TD_DTYPE_BFLOAT16:
    case TD_DTYPE_FLOAT32:
    case TD_DTYPE_FLOAT64: return list_of<double>(tensor, TD_DTYPE_FLOAT64);
    case TD_DTYPE_COMPLEX64: {
      const Json parts = list_of<double>(tensor, TD_DTYPE_COMPLEX128);
      Json pairs = Json::array();
      for (size_t i = 0; i < parts.size(); i += 2)
        pairs.push_back(Json::array({parts[i], parts[i + 1]}));
      return pairs;
    }
    default: return list_of<int64_t>(tensor, TD_DTYPE_INT64);
  }
}

template <class Call>
std::vector<int64_t> sizes_from(Call call) {
  size_t dims = 0;
  check(call(nullptr, 0, &dims));
  std::vector<int64_t> sizes(dims);
  check(call(sizes.data(), dims, &dims));
  return sizes;
}

std::vector<int64_t> batch_of(const td_tensordict *td) {
  return sizes_from(
      [&](auto sizes, auto cap, auto dims) { return td_batch_size(td, sizes, cap, dims); });
}

// Calls `visit(path, path_len, kind)` for everything in a dictionary, at every level.
template <class Visit>
void walk(const td_tensordict *td, Visit visit) {
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  options.include_nested = 1;
  const Keys keys = made<Keys>([&](auto result) { return td_keys_of(td, &options, result); });
  for (size_t i = 0; i < td_keys_len(keys.get()); ++i) {
    const char *const *path = nullptr;
    size_t path_len = 0;
    td_entry_kind kind = TD_ENTRY_NONE;
    check(td_keys_at(keys.get(), i, &path, &path_len));
    check(td_keys_kind_at(keys.get(), i, &kind));
    visit(path, path_len, kind);
  }
}

}  // namespace

// The names of the dimensions; null where there is none.
Json names_of(const td_tensordict *td) {
  const Keys keys = made<Keys>([&](auto result) { return td_names(td, result); });
  Json names = Json::array();
  for (size_t i = 0; i < td_keys_len(keys.get()); ++i) {
    const char *const *path = nullptr;
    size_t path_len = 0;
    check(td_keys_at(keys.get(), i, &path, &path_len));
    names.push_back(path_len == 0 ? Json() : Json(path[0]));
  }
  return names;
}

namespace {}  // namespace

// Lists of non-tensor values, nested like the batch.
Json lists_of(const td_tensordict *td, const char *const *path, size_t path_len) {
  size_t length = 0;
  check(td_get_non_tensor_stack_json(td, path, path_len, nullptr, 0, &length));
  std::string text(length + 1, '\0');
  check(td_get_non_tensor_stack_json(td, path, path_len, text.data(), text.size(), &length));
  return Json::parse(text.c_str());
}

namespace {

Json repeated(const Json &value, const std::vector<int64_t> &batch, size_t depth = 0) {
  if (depth == batch.size()) return value;
  Json list = Json::array();
  for (int64_t i = 0; i < batch[depth]; ++i) list.push_back(repeated(value, batch, depth + 1));
  return list;
}

// A nested tensor: the shape of each row, and all values.
Json ragged_of(const td_tensordict *nested) {
  td_tensor *values = nullptr, *sizes = nullptr;
  check(td_nested_tensor_values(nested, &values, &sizes));
  const Tensor own_values(values), own_sizes(sizes);
  const Json table = leaf_of(sizes);
  const auto columns = table["shape"][1].get<size_t>();
  Json leaf = leaf_of(values), shapes = Json::array();
  for (size_t row = 0; row < table["shape"][0].get<size_t>(); ++row) {
    const auto first = table["values"].begin() + static_cast<std::ptrdiff_t>(row * columns);
    shapes.push_back(Json(std::vector<Json>(first, first + static_cast<std::ptrdiff_t>(columns))));
  }
  return {{"dtype", leaf["dtype"]}, {"ragged", shapes}, {"values", leaf["values"]}};
}

// {"batch", "leaves", "nodes"} and, where there are any, "names" and "data". Paths are written without blanks.
// What is below `apart` is left out.
Json describe(const td_tensordict *td, const std::vector<Path> &apart) {
  Json found = {{"batch", batch_of(td)}, {"leaves", Json::object()}, {"nodes", Json::object()}};
  for (const Json &name : names_of(td)) {
    if (!name.is_null()) found["names"] = names_of(td);
  }
  walk(td, [&](auto path, size_t path_len, td_entry_kind kind) {
    const Path full(path, path + path_len);
    for (const Path &other : apart) {
      if (other.size() <= path_len && std::equal(other.begin(), other.end(), full.begin())) return;
    }
    const std::string name = Json(full).dump();
    if (kind == TD_ENTRY_DICT) {
      found["nodes"][name] = batch_of(
          made<Dict>([&](auto result) { return td_get_dict(td, path, path_len, result); }).get());
    } else if (kind == TD_ENTRY_NESTED_TENSOR) {
      found["leaves"][name] = ragged_of(made<Dict>([&](auto result) {
                                          return td_get_nested_tensor(td, path, path_len, result);
                                        }).get());
    } else if (kind == TD_ENTRY_NON_TENSOR) {
      found["data"][name] = lists_of(td, path, path_len);
    } else {
      found["leaves"][name] = leaf_of(
          made<Tensor>([&](auto result) { return td_get(td, path, path_len, result); }).get());
    }
  });
  return found;
}

// What "expect" says, written as describe() does.
Json plain(Json expected) {
  for (const char *part : {"leaves", "nodes", "data"}) {
    if (!expected.contains(part)) continue;
    Json plain = Json::object();
    for (const auto &[path, value] : expected.at(part).items()) {
      const bool one = value.is_object() && value.value("kind", "") == "data";
      const Json lists = one ? repeated(value["value"], value["batch"]) : Json();
      plain[Json::parse(path).dump()] = one                      ? lists
                                        : value.contains("kind") ? value["value"]
                                                                 : value;
    }
    expected[part] = plain;
  }
  return expected;
}

std::vector<Dict> members_of(const td_tensordict *td, int64_t dim) {
  size_t count = 0;
  check(td_unbind(td, dim, nullptr, 0, &count));
  std::vector<td_tensordict *> handles(count);
  check(td_unbind(td, dim, handles.data(), count, &count));
  std::vector<Dict> members;
  for (td_tensordict *handle : handles) members.emplace_back(handle);
  return members;
}

Dict base_from(const Json &base, bool changed, int64_t add);

}  // namespace

// Names for the dimensions; null for none.
void name(td_tensordict *td, const Json &names) {
  std::vector<std::string> kept(names.size());
  std::vector<const char *> texts;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].is_null()) kept[i] = names[i].get<std::string>();
    texts.push_back(names[i].is_null() ? nullptr : kept[i].c_str());
  }
  check(td_set_names(td, texts.data(), texts.size()));
}

namespace {

Dict stack_from(const Json &base, bool changed, int64_t add) {
  std::vector<Dict> members;
  std::vector<const td_tensordict *> handles;
  for (const Json &member : base["members"]) {
    members.push_back(base_from(member, changed, add));
    handles.push_back(members.back().get());
    add += 1000;
  }
  const auto dim = base.at("stack_dim").get<int64_t>();
  Dict td = made<Dict>(
      [&](auto result) { return td_lazy_stack(handles.data(), handles.size(), dim, result); });
  if (base.contains("stack_dim_name")) {
    Json names = names_of(td.get());
    names[static_cast<size_t>(dim)] = base["stack_dim_name"];
    name(td.get(), names);
  }
  return td;
}

}  // namespace

void set_data(td_tensordict *td, const Json &item) {
  const auto path = item.at(0).get<Path>();
  const std::string text = item.at(1).dump();
  const bool stack = item[1].is_array() && !batch_of(td).empty();
  check((stack ? td_set_non_tensor_stack_json : td_set_non_tensor_json)(td, names_of(path).data(),
                                                                        path.size(), text.c_str()));
}

namespace {

void gather(const Json &nested, size_t depth, std::vector<int64_t> &sizes, Json &flat) {
  if (!nested.is_array()) {
    flat.push_back(nested);
    return;
  }
  if (depth == sizes.size()) sizes.push_back(static_cast<int64_t>(nested.size()));
  for (const Json &item : nested) gather(item, depth + 1, sizes, flat);
}

}  // namespace

// A leaf counts, whatever its dtype makes of that; a bool leaf is true at every third position.
Tensor counted(int64_t first, const std::vector<int64_t> &sizes, const std::string &dtype,
               bool changed) {
  if (dtype == "bool") {
    std::vector<uint8_t> values(static_cast<size_t>(elements(sizes)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = (i % 3 == 0) != changed;
    return tensor_from(values, TD_DTYPE_BOOL, sizes);
  }
  std::vector<int64_t> values(static_cast<size_t>(elements(sizes)));
  std::iota(values.begin(), values.end(), first + (changed ? 1 : 0));
  return converted(tensor_from(values, TD_DTYPE_INT64, sizes).get(), kDtypes.at(dtype));
}

Tensor tensor_of(const Json &nested) {
  std::vector<int64_t> sizes;
  Json flat = Json::array();
  gather(nested, 0, sizes, flat);
  if (!flat.empty() && flat[0].is_boolean()) {
    const auto bools = flat.get<std::vector<bool>>();
    return tensor_from(std::vector<uint8_t>(bools.begin(), bools.end()), TD_DTYPE_BOOL, sizes);
  }
  return tensor_from(flat.get<std::vector<int64_t>>(), TD_DTYPE_INT64, sizes);
}

Tensor scalar_of(const Json &value) {
  if (!value.is_number_float()) return tensor_of(value);
  return tensor_from(std::vector<double>{value.get<double>()}, TD_DTYPE_FLOAT64, {});
}

namespace {

Dict base_from(const Json &base, bool changed, int64_t add) {
  add += base.value("add", int64_t{0});
  if (base.contains("members")) return stack_from(base, changed, add);
  const auto batch = base.at("batch").get<std::vector<int64_t>>();
  Dict td = made<Dict>([&](auto result) {
    return td_create(batch.data(), batch.size(), TD_DEVICE_NONE, -1, result);
  });
  int64_t number = 0;
  for (const Json &item : base.at("leaves")) {
    const auto [path, sizes, dtype] =
        item.get<std::tuple<Path, std::vector<int64_t>, std::string>>();
    const Tensor tensor = counted(100 * number++ + add, sizes, dtype, changed);
    check(td_set(td.get(), names_of(path).data(), path.size(), tensor.get()));
  }
  for (const Json &item : base.value("data", Json::array())) set_data(td.get(), item);
  if (base.value("names", Json()).is_array()) name(td.get(), base["names"]);
  return td;
}

}  // namespace

Dict base_of(const Json &base, bool changed) { return base_from(base, changed, 0); }

void fill(td_tensordict *td, const td_tensor *value) {
  walk(td, [&](auto path, size_t path_len, td_entry_kind kind) {
    if (kind != TD_ENTRY_TENSOR) return;
    const Tensor tensor =
        made<Tensor>([&](auto result) { return td_get(td, path, path_len, result); });
    check(td_tensor_copy(tensor.get(), value));
  });
}

Json leaf_of(const td_tensor *tensor) {
  td_dtype dtype = TD_DTYPE_OTHER;
  check(td_tensor_dtype(tensor, &dtype));
  const auto sizes = sizes_from(
      [&](auto room, auto cap, auto dims) { return td_tensor_sizes(tensor, room, cap, dims); });
  return {{"dtype", dtype_name(dtype)}, {"shape", sizes}, {"values", values_of(tensor, dtype)}};
}

std::string difference_of(const Json &expected, const td_tensordict *td) {
  if (!expected.contains("members")) {
    std::vector<Path> apart;  // lazy stacks inside
    const Json stacks = expected.value("lazy", Json::object());
    for (const auto &[name, lazy] : stacks.items()) {
      apart.push_back(Json::parse(name).get<Path>());
      const auto names = names_of(apart.back());
      const Dict inside = made<Dict>(
          [&](auto result) { return td_get_dict(td, names.data(), names.size(), result); });
      const std::string text = difference_of(lazy, inside.get());
      if (!text.empty()) return name + " " + text;
    }
    Json rest = plain(expected);
    rest.erase("lazy");
    return difference(rest, describe(td, apart));
  }
  std::string text = difference(expected.at("batch"), batch_of(td), "batch");
  const auto dim = expected.at("stack_dim").get<int64_t>();
  const Json name = names_of(td).at(static_cast<size_t>(dim));
  if (text.empty())
    text = difference(expected.value("stack_dim_name", Json()), name, "stack_dim_name");
  if (!text.empty()) return text;
  const std::vector<Dict> members = members_of(td, dim);
  for (size_t i = 0; text.empty() && i < members.size(); ++i) {
    text = difference_of(expected["members"].at(i), members[i].get());
    if (!text.empty()) text = "member " + std::to_string(i) + ": " + text;
  }
  return text;
}

std::string difference(const Json &expected, const Json &found, const std::string &where) {
  if (expected == found) return "";
  if (expected.is_object() && found.is_object()) {
    for (const auto &[key, value] : expected.items()) {
      const std::string place = where + (where.empty() ? "" : " ") + key;
      if (!found.contains(key)) return place + " is missing";
      if (const std::string text = difference(value, found[key], place); !text.empty()) return text;
    }
    for (const auto &[key, value] : found.items()) {
      if (!expected.contains(key)) return where + " " + key + " should not be there";
    }
  }
  if (expected.is_array() && found.is_array() && expected.size() == found.size() &&
      expected.size() > 8) {
    size_t i = 0;
    while (expected[i] == found[i]) ++i;
    return difference(expected[i], found[i], where + "[" + std::to_string(i) + "]");
  }
  return where + ": expected " + expected.dump().substr(0, 60) + ", found " +
         found.dump().substr(0, 60);
}

td_dtype dtype_of(const std::string &name) { return kDtypes.at(name); }

Tensor tensor_from_leaf(const Json &leaf) {
  const auto sizes = leaf.at("shape").get<std::vector<int64_t>>();
  std::vector<double> values;
  for (const Json &value : leaf.at("values")) {
    const bool finite = !value.is_object();
    values.push_back(value.is_boolean() ? value.get<bool>()
                     : finite           ? value.get<double>()
                                        : std::stod(value["float"].get<std::string>()));
  }
  return converted(tensor_from(values, TD_DTYPE_FLOAT64, sizes).get(),
                   dtype_of(leaf.at("dtype").get<std::string>()));
}

Members::Members(const Json &specs) {
  for (const Json &spec : specs) {
    dicts.push_back(base_of(spec));
    handles.push_back(dicts.back().get());
  }
}

}  // namespace parity
