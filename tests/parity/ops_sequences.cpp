// Operations that tensordict 0.15 brought: packing, renaming, grouping, sequences.
#include <map>

#include "index.h"
#include "key_list.h"
#include "ops.h"

namespace parity {
namespace {

std::string layout_of(const td_tensordict *td, int64_t dim) {
  size_t length = 0;
  check(td_pack_layout(td, dim, nullptr, 0, &length));
  std::string text(length + 1, '\0');
  check(td_pack_layout(td, dim, text.data(), text.size(), &length));
  return text.c_str();
}

// A layout as the cases have it.
Json layout_json(const std::string &text) {
  Json layout = Json::parse(text), nested = Json::array();
  for (const Json &node : layout["nested"])
    nested.push_back(Json::array({node["key"], node["batch"]}));
  layout["nested"] = nested;
  for (const char *more : {"device", "type"}) layout.erase(more);
  return layout;
}

Tensor packed_of(const td_tensordict *td, int64_t dim, const char *layout = nullptr) {
  return made<Tensor>([&](auto result) { return td_pack(td, dim, layout, result); });
}

Result pack(const Request &request) {
  const Dict td = base_of(request.base);
  const int64_t dim = integer(request, "dim");
  const Tensor packed = packed_of(td.get(), dim);
  return {{},
          {{"packed", leaf_of(packed.get())}, {"layout", layout_json(layout_of(td.get(), dim))}}};
}

Result pack_layout(const Request &request) {
  const Dict td = base_of(request.base), other = base_of(request.args.at("other"));
  const std::string layout = layout_of(td.get(), integer(request, "dim"));
  const Tensor packed = packed_of(other.get(), integer(request, "dim2"), layout.c_str());
  return {{}, {{"packed", leaf_of(packed.get())}, {"layout", layout_json(layout)}}};
}

Dict unpacked(const td_tensor *packed, const std::string &layout) {
  return made<Dict>([&](auto result) { return td_unpack(packed, layout.c_str(), result); });
}

// Rows of the packed tensor: along its first dimension, or the second if the columns are the first.
std::vector<Dict> unpack(const Request &request) {
  const Dict td = base_of(request.base);
  const int64_t dim = integer(request, "dim");
  const std::string layout = layout_of(td.get(), dim);
  Tensor packed = packed_of(td.get(), dim);
  if (const Json &rows = request.args.at("rows"); !rows.is_null()) {
    const auto dims = static_cast<int64_t>(leaf_of(packed.get())["shape"].size());
    Json items = Json::array({Json({{"index", rows}})});
    if (dim == 0 || dim == -dims)
      items.insert(items.begin(), Json({{"slice", {nullptr, nullptr, nullptr}}}));
    const Index at(items);
    packed = made<Tensor>(
        [&](auto result) { return td_tensor_index(packed.get(), at.data(), at.size(), result); });
  }
  return one(unpacked(packed.get(), layout));
}

Result layout(const Request &request) {
  const Json &args = request.args;
  const std::string text =
      Json({{"keys", args.at("keys")}, {"shapes", args.at("shapes")}, {"dim", args.at("dim")}})
          .dump();
  const Tensor flat = counted(0, args.at("flat").get<std::vector<int64_t>>(), "float32");
  return one(unpacked(flat.get(), text));
}

Result rename_keys(const Request &request) {
  Json from = Json::array(), to = Json::array();
  for (const Json &pair : request.args.at("map")) {
    from.push_back(pair[0]);
    to.push_back(pair[1]);
  }
  const KeyList keys(from), new_keys(to);
  const td_rename_keys_flags flags =
      request.args.at("strict").get<bool>() ? 0 : TD_RENAME_KEYS_IGNORE_MISSING;
  std::vector<Dict> renamed = on_base(request, [&](auto td, auto result) {
    return td_rename_keys(td, keys.data(), new_keys.data(), keys.size(), flags, result);
  });
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  options.include_nested = options.leaves_only = options.include_non_tensor = 1;
  const Json order = paths_of(renamed[0].get(), options);
  return {std::move(renamed), {{"order", order}}};
}

Result group_by(const Request &request) {
  const Dict td = base_of(request.base);
  const Json &entry = request.args.at("entry"), &key = request.args.at("key");
  const auto path = key.get<Path>();
  const auto by = request.args.value("by", key).get<Path>();
  if (entry.contains("data")) {
    set_data(td.get(), Json::array({key, entry["data"]}));
  } else {
    check(td_set(td.get(), names_of(path).data(), path.size(), tensor_from_leaf(entry).get()));
  }
  td_tensordict *values = nullptr;
  size_t count = 0;
  check(td_group_by(td.get(), names_of(by).data(), by.size(), &values, nullptr, 0, &count));
  td_free(values);
  std::vector<td_tensordict *> handles(count);
  check(td_group_by(td.get(), names_of(by).data(), by.size(), &values, handles.data(), count,
                    &count));
  const Dict own(values);
  std::vector<Dict> groups;
  for (td_tensordict *handle : handles) groups.emplace_back(handle);
  td_entry_kind kind = TD_ENTRY_NONE;
  check(td_get_kind(values, names_of(by).data(), by.size(), &kind));
  const Json found = kind == TD_ENTRY_NON_TENSOR
                         ? lists_of(values, names_of(by).data(), by.size())
                         : leaf_of(made<Tensor>([&](auto result) {
                                     return td_get(values, names_of(by).data(), by.size(), result);
                                   }).get());
  return {std::move(groups), {{"values", found}}};
}

Dict padded_of(const Request &request) {
  const Members members(request.args.at("members"));
  const std::string side = request.args.value("padding_side", "right");
  if (side != "left" && side != "right") throw Refused(TD_ERR_INVALID_ARGUMENT, "no such side");
  Json keys = Json::array();
  std::vector<double> values;
  td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
  options.left = side == "left";
  options.dim = integer(request, "pad_dim");
  const Json value = request.args.value("padding_value", Json(0));
  if (value.is_number()) options.value = value.get<double>();
  for (const Json &pair : value.is_array() ? value : Json::array()) {
    keys.push_back(pair[0]);
    values.push_back(pair[1].get<double>());
  }
  const KeyList list(keys);
  options.keys = list.data();
  options.values = values.data();
  options.keys_len = list.size();
  const Json mask = request.args.value("return_mask", Json(false));
  const Path path = mask.is_array() ? mask.get<Path>() : Path{"masks"};
  const auto names = names_of(path);
  options.masks = names.data();
  options.masks_len = mask == false ? 0 : names.size();
  return made<Dict>([&](auto result) {
    return td_pad_sequence(members.handles.data(), members.handles.size(), &options, result);
  });
}

std::vector<Dict> pad_sequence(const Request &request) { return one(padded_of(request)); }

// The rows and positions of the first tensor.
std::vector<int64_t> mask_shape(const td_tensordict *padded, int64_t dim, const Json &leaf) {
  const auto path = leaf.get<Path>();
  const Json shape = leaf_of(made<Tensor>([&](auto result) {
                               return td_get(padded, names_of(path).data(), path.size(), result);
                             }).get())["shape"];
  const auto at = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(shape.size()) : dim + 1);
  return {shape[0].get<int64_t>(), shape.at(at).get<int64_t>()};
}

Result unpad_sequence(const Request &request) {
  const Dict padded = padded_of(request);
  const auto how = request.args.at("mask").get<std::string>();
  td_unpad_sequence_options options = TD_UNPAD_SEQUENCE_OPTIONS_INIT;
  options.dim = integer(request, "pad_dim");
  Json mask;
  Tensor tensor;
  const char *masks = "masks";
  if (how == "none") check(td_remove(padded.get(), &masks, 1));
  if (how == "tensor" || how == "holes") {
    check(td_remove(padded.get(), &masks, 1));
    const Json &leaf = request.args.at("members")[0].at("leaves")[0][0];
    const auto shape = mask_shape(padded.get(), options.dim, leaf);
    for (int64_t i = 0; i < shape[0]; ++i) {
      Json row = Json::array();
      for (int64_t k = 0; k < shape[1]; ++k)
        row.push_back(how == "holes" ? k % 2 == 0 : k < i % (shape[1] + 1) + 1);
      mask.push_back(row);
    }
    tensor = tensor_of(mask);
    options.mask = tensor.get();
  }
  Dict samples =
      made<Dict>([&](auto result) { return td_unpad_sequence(padded.get(), &options, result); });
  return {one(std::move(samples)), mask.is_null() ? Json::object() : Json({{"mask", mask}})};
}

std::vector<Dict> collate(const Request &request) {
  const Members members(request.args.at("members"));
  Json keys = Json::array();
  std::vector<double> values;
  for (const Json &pair : request.args.value("pad_keys", Json::array())) {
    keys.push_back(pair[0]);
    values.push_back(pair[1].get<double>());
  }
  const KeyList pad_keys(keys), nested_keys(request.args.value("nested_keys", Json::array()));
  const auto masks = request.args.value("mask_key", Path());
  const auto names = names_of(masks);
  td_collate_options options = TD_COLLATE_OPTIONS_INIT;
  options.pad_keys = pad_keys.data();
  options.pad_values = values.data();
  options.pad_keys_len = pad_keys.size();
  options.nested_keys = nested_keys.data();
  options.nested_keys_len = nested_keys.size();
  options.masks = names.data();
  options.masks_len = names.size();
  return one(made<Dict>([&](auto result) {
    return td_collate(members.handles.data(), members.handles.size(), &options, result);
  }));
}

std::vector<Dict> cast(const Request &request) {
  static const std::map<std::string, td_to_kinds> kKinds = {
      {"is_floating", TD_TO_KINDS_FLOATING},
      {"is_bool", TD_TO_KINDS_BOOL},
      {"is_integer", TD_TO_KINDS_INTEGER},
      {"is_inexact", TD_TO_KINDS_FLOATING | TD_TO_KINDS_COMPLEX}};
  const Json &filter = request.args.at("filter");
  const KeyList keys(filter.is_object() ? filter["keys"] : Json::array());
  td_to_options options = TD_TO_OPTIONS_INIT;
  if (filter.is_string()) options.kinds = kKinds.at(filter.get<std::string>());
  options.keys = keys.data();
  options.keys_len = keys.size();
  if (filter.is_object() && keys.size() == 0) return one(base_of(request.base));  // nothing is cast
  const td_dtype dtype = dtype_of(request.args.at("dtype").get<std::string>());
  return on_base(request, [&](auto td, auto result) {
    return td_to(td, nullptr, dtype, TD_DEVICE_NONE, -1, &options, result);
  });
}

Result stack_lazy(const Request &request) {
  const Members members(Json(static_cast<size_t>(integer(request, "n")), request.base));
  const int64_t dim = integer(request, "dim");
  Dict td = made<Dict>([&](auto result) {
    return td_lazy_stack(members.handles.data(), members.handles.size(), dim, result);
  });
  Json names = names_of(td.get());
  if (const Json &given = request.args.at("stack_dim_name"); !given.is_null()) {
    names[static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(names.size()) : dim)] = given;
    name(td.get(), names);
  }
  const Json found = names_of(td.get());
  return {one(std::move(td)), {{"names", found}}};
}

}  // namespace

const std::map<std::string, Operation> &sequence_operations() {
  static const std::map<std::string, Operation> kOperations = {
      {"cast", cast},
      {"collate", collate},
      {"group_by", group_by},
      {"layout", layout},
      {"pack", pack},
      {"pack_layout", pack_layout},
      {"pad_sequence", pad_sequence},
      {"rename_keys", rename_keys},
      {"stack_lazy", stack_lazy},
      {"unpack", unpack},
      {"unpad_sequence", unpad_sequence},
  };
  return kOperations;
}

}  // namespace parity
