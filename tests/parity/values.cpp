#include "values.h"

#include <map>
#include <numeric>

namespace parity {
namespace {

const std::map<std::string, td_dtype> kDtypes = {
    {"uint8", TD_DTYPE_UINT8},     {"int8", TD_DTYPE_INT8},         {"int16", TD_DTYPE_INT16},
    {"int32", TD_DTYPE_INT32},     {"int64", TD_DTYPE_INT64},       {"float16", TD_DTYPE_FLOAT16},
    {"float32", TD_DTYPE_FLOAT32}, {"float64", TD_DTYPE_FLOAT64},   {"bool", TD_DTYPE_BOOL},
    {"uint16", TD_DTYPE_UINT16},   {"bfloat16", TD_DTYPE_BFLOAT16}, {"uint32", TD_DTYPE_UINT32},
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

std::vector<const char *> names_of(const Path &path) {
  std::vector<const char *> names;
  for (const std::string &name : path) names.push_back(name.c_str());
  return names;
}

int64_t elements(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// A leaf counts from 100 times its number, whatever its dtype makes of that; a bool leaf is true at
// every third position.
Tensor leaf_of(int64_t number, const std::vector<int64_t> &sizes, const std::string &dtype,
               bool changed) {
  if (dtype == "bool") {
    std::vector<uint8_t> values(static_cast<size_t>(elements(sizes)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = (i % 3 == 0) != changed;
    return tensor_from(values, TD_DTYPE_BOOL, sizes);
  }
  std::vector<int64_t> values(static_cast<size_t>(elements(sizes)));
  std::iota(values.begin(), values.end(), 100 * number + (changed ? 1 : 0));
  return converted(tensor_from(values, TD_DTYPE_INT64, sizes).get(), kDtypes.at(dtype));
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

Json leaf(const td_tensordict *td, const char *const *path, size_t path_len) {
  const Tensor tensor =
      made<Tensor>([&](auto result) { return td_get(td, path, path_len, result); });
  td_dtype dtype = TD_DTYPE_OTHER;
  check(td_tensor_dtype(tensor.get(), &dtype));
  const auto sizes = sizes_from([&](auto room, auto cap, auto dims) {
    return td_tensor_sizes(tensor.get(), room, cap, dims);
  });
  return {
      {"dtype", dtype_name(dtype)}, {"shape", sizes}, {"values", values_of(tensor.get(), dtype)}};
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

void gather(const Json &nested, size_t depth, std::vector<int64_t> &sizes, Json &flat) {
  if (!nested.is_array()) {
    flat.push_back(nested);
    return;
  }
  if (depth == sizes.size()) sizes.push_back(static_cast<int64_t>(nested.size()));
  for (const Json &item : nested) gather(item, depth + 1, sizes, flat);
}

}  // namespace

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

Dict base_of(const Json &base, bool changed) {
  const auto batch = base.at("batch").get<std::vector<int64_t>>();
  Dict td = made<Dict>([&](auto result) {
    return td_create(batch.data(), batch.size(), TD_DEVICE_NONE, -1, result);
  });
  int64_t number = 0;
  for (const Json &item : base.at("leaves")) {
    const auto [path, sizes, dtype] =
        item.get<std::tuple<Path, std::vector<int64_t>, std::string>>();
    const Tensor tensor = leaf_of(number++, sizes, dtype, changed);
    check(td_set(td.get(), names_of(path).data(), path.size(), tensor.get()));
  }
  return td;
}

void fill(td_tensordict *td, const td_tensor *value) {
  walk(td, [&](auto path, size_t path_len, td_entry_kind kind) {
    if (kind != TD_ENTRY_TENSOR) return;
    const Tensor tensor =
        made<Tensor>([&](auto result) { return td_get(td, path, path_len, result); });
    check(td_tensor_copy(tensor.get(), value));
  });
}

Json describe(const td_tensordict *td) {
  Json leaves = Json::object(), nodes = Json::object();
  walk(td, [&](auto path, size_t path_len, td_entry_kind kind) {
    const std::string name = Json(Path(path, path + path_len)).dump();
    if (kind == TD_ENTRY_DICT) {
      nodes[name] = batch_of(
          made<Dict>([&](auto result) { return td_get_dict(td, path, path_len, result); }).get());
    } else {
      leaves[name] = leaf(td, path, path_len);
    }
  });
  return {{"batch", batch_of(td)}, {"leaves", leaves}, {"nodes", nodes}};
}

Json with_plain_paths(Json expected) {
  for (const char *part : {"leaves", "nodes"}) {
    Json plain = Json::object();
    for (const auto &[path, value] : expected.at(part).items()) {
      plain[Json::parse(path).dump()] = value;
    }
    expected[part] = plain;
  }
  return expected;
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

}  // namespace parity
