#include "ops.h"

#include <list>
#include <map>

#include "index.h"
#include "key_list.h"

namespace parity {
namespace {

using Sizes = std::vector<int64_t>;

std::vector<Dict> with_sizes(const Request &request, const char *argument,
                             td_status (*call)(const td_tensordict *, const int64_t *, size_t,
                                               td_tensordict **)) {
  const auto sizes = request.args.at(argument).get<Sizes>();
  return on_base(
      request, [&](auto td, auto result) { return call(td, sizes.data(), sizes.size(), result); });
}

std::vector<Dict> view(const Request &request) { return with_sizes(request, "shape", td_view); }
std::vector<Dict> reshape(const Request &request) {
  return with_sizes(request, "shape", td_reshape);
}
std::vector<Dict> expand(const Request &request) { return with_sizes(request, "shape", td_expand); }
std::vector<Dict> permute(const Request &request) {
  return with_sizes(request, "dims", td_permute);
}

std::vector<Dict> squeeze(const Request &request) {
  const Json &dim = request.args.at("dim");
  return on_base(request, [&](auto td, auto result) {
    return dim.is_null() ? td_squeeze_all(td, result) : td_squeeze(td, dim.get<int64_t>(), result);
  });
}

std::vector<Dict> unsqueeze(const Request &request) {
  return on_base(request, [&](auto td, auto result) {
    return td_unsqueeze(td, request.args.at("dim").get<int64_t>(), result);
  });
}

std::vector<Dict> transpose(const Request &request) {
  return on_base(request, [&](auto td, auto result) {
    return td_transpose(td, request.args.at("dim0").get<int64_t>(),
                        request.args.at("dim1").get<int64_t>(), result);
  });
}

// The operations that give several dictionaries: asked for their number first.
template <class Call>
std::vector<Dict> parts_of_base(const Request &request, Call call) {
  const Dict td = base_of(request.base);
  size_t count = 0;
  check(call(td.get(), nullptr, size_t{0}, &count));
  std::vector<td_tensordict *> handles(count);
  check(call(td.get(), handles.data(), count, &count));
  std::vector<Dict> parts;
  for (td_tensordict *handle : handles) parts.emplace_back(handle);
  return parts;
}

std::vector<Dict> unbind(const Request &request) {
  return parts_of_base(request, [&](auto td, auto results, auto room, auto count) {
    return td_unbind(td, integer(request, "dim"), results, room, count);
  });
}

std::vector<Dict> parts_by(const Request &request, td_split_kind kind, const Sizes &numbers) {
  return parts_of_base(request, [&](auto td, auto results, auto room, auto count) {
    return td_split(td, integer(request, "dim"), kind, numbers.data(), numbers.size(), results,
                    room, count);
  });
}

std::vector<Dict> split(const Request &request) {
  const Json &size = request.args.at("split_size");
  return size.is_array() ? parts_by(request, TD_SPLIT_LENGTHS, size.get<Sizes>())
                         : parts_by(request, TD_SPLIT_LENGTH, {size.get<int64_t>()});
}

std::vector<Dict> chunk(const Request &request) {
  return parts_by(request, TD_SPLIT_CHUNKS, {integer(request, "chunks")});
}

std::vector<Dict> flatten(const Request &request) {
  return on_base(request, [&](auto td, auto result) {
    return td_flatten(td, integer(request, "start"), integer(request, "end"), result);
  });
}

std::vector<Dict> repeat(const Request &request) {
  const auto counts = request.args.at("repeats").get<Sizes>();
  return on_base(request, [&](auto td, auto result) {
    return td_repeat(td, counts.data(), counts.size(), 0, result);
  });
}

std::vector<Dict> repeat_interleave(const Request &request) {
  const Tensor repeats = tensor_of(request.args.at("repeats"));
  return on_base(request, [&](auto td, auto result) {
    return td_repeat_interleave(td, repeats.get(), integer(request, "dim"), result);
  });
}

std::vector<Dict> gather(const Request &request) {
  const Tensor index = tensor_of(request.args.at("index"));
  return on_base(request, [&](auto td, auto result) {
    return td_gather(td, integer(request, "dim"), index.get(), result);
  });
}

std::vector<Dict> masked_select(const Request &request) {
  const Tensor mask = tensor_of(request.args.at("mask"));
  return on_base(request,
                 [&](auto td, auto result) { return td_masked_select(td, mask.get(), result); });
}

// The base itself and changed copies of it, `n` in all.
std::vector<Dict> join(const Request &request,
                       td_status (*call)(const td_tensordict *const *, size_t, int64_t,
                                         td_tensordict **)) {
  std::vector<Dict> sources;
  std::vector<const td_tensordict *> handles;
  for (int64_t i = 0; i < request.args.at("n").get<int64_t>(); ++i) {
    sources.push_back(base_of(request.base, i > 0));
    handles.push_back(sources.back().get());
  }
  return one(made<Dict>([&](auto result) {
    return call(handles.data(), handles.size(), request.args.at("dim").get<int64_t>(), result);
  }));
}

std::vector<Dict> stack(const Request &request) { return join(request, td_stack); }
std::vector<Dict> cat(const Request &request) { return join(request, td_cat); }

Dict part_at(const td_tensordict *td, const Index &at) {
  return made<Dict>([&](auto result) { return td_index(td, at.data(), at.size(), result); });
}

Result index(const Request &request) {
  const Dict td = base_of(request.base);
  std::vector<Dict> part = one(part_at(td.get(), Index(request.args.at("index"))));
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  options.leaves_only = options.include_nested = 1;
  const Json keys = paths_of(part[0].get(), options);
  return {std::move(part), {{"keys", keys}}};
}

Result keys(const Request &request) {
  const Dict td = base_of(request.base);
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  options.include_nested = request.args.at("include_nested").get<bool>();
  options.leaves_only = request.args.at("leaves_only").get<bool>();
  options.sort = request.args.at("sort").get<bool>();
  options.contents_first = 1;  // as Python does
  return {{}, {{"keys", paths_of(td.get(), options)}}};
}

// The base as a plain map, then a dictionary with names.
std::vector<Dict> from_dict(const Request &request) {
  Json spec = request.base;
  const Json &batch = request.args.at("batch");
  spec["batch"] = batch.is_null() ? Json::array() : batch;
  spec["names"] = batch.is_null() ? Json() : request.args.at("names");
  const bool finds = request.args.at("auto_batch_size") == true;
  const Json &names = request.args.at("names");
  if (batch.is_null() && names.is_array() && names[0].is_null())
    throw Refused(TD_ERR_INVALID_ARGUMENT, "names without a batch size");
  Dict td = base_of(spec);
  if (finds) check(td_auto_batch_size(td.get(), 1, 0));
  return one(std::move(td));
}

std::vector<Dict> pad(const Request &request) {
  // Pairs from the first dimension on, as in C.
  const auto sizes = request.args.at("pad_size").get<Sizes>();
  return on_base(request, [&](auto td, auto result) {
    return td_pad(td, sizes.data(), sizes.size(), request.args.at("value").get<double>(), result);
  });
}

std::vector<Dict> tile(const Request &request) {
  const auto counts = request.args.at("dims").get<Sizes>();
  return on_base(request, [&](auto td, auto result) {
    return td_repeat(td, counts.data(), counts.size(), TD_REPEAT_TILE, result);
  });
}

std::vector<Dict> where(const Request &request) {
  const Tensor mask = tensor_of(request.args.at("mask"));
  const Json &spec = request.args.at("other");
  const Dict other = spec.is_null() ? Dict() : base_of(spec);
  const Tensor number = spec.is_null() ? scalar_of(request.args.at("scalar")) : Tensor();
  return on_base(request, [&](auto td, auto result) {
    return td_where(td, mask.get(), other.get(), number.get(), result);
  });
}

// The value is a number, or a dictionary shaped like the part and filled with one number.
std::vector<Dict> setitem(const Request &request) {
  static const std::map<std::string, int> kFillings = {{"zeros", 0}, {"ones", 1}, {"seven", 7}};
  Dict td = base_of(request.base);
  const Index at(request.args.at("index"));
  const Json &value = request.args.at("value");
  if (value.contains("scalar")) {
    check(td_fill_at(td.get(), at.data(), at.size(), scalar_of(value["scalar"]).get()));
    return one(std::move(td));
  }
  const Dict part = part_at(td.get(), at);
  const Dict source = made<Dict>([&](auto result) { return td_clone(part.get(), 0, result); });
  fill(source.get(), scalar_of(kFillings.at(value.at("like").get<std::string>())).get());
  check(td_set_at(td.get(), at.data(), at.size(), source.get()));
  return one(std::move(td));
}

std::vector<Dict> with_keys(const Request &request,
                            td_status (*call)(const td_tensordict *, const td_key *, size_t,
                                              const td_select_options *, td_tensordict **)) {
  const KeyList keys(request.args.at("keys"));
  td_select_options options = TD_SELECT_OPTIONS_INIT;
  options.ignore_missing = request.args.at("strict").get<bool>() ? 0 : 1;
  return on_base(request, [&](auto td, auto result) {
    return call(td, keys.data(), keys.size(), &options, result);
  });
}

std::vector<Dict> select(const Request &request) { return with_keys(request, td_select); }
std::vector<Dict> exclude(const Request &request) { return with_keys(request, td_exclude); }

std::vector<Dict> flatten_keys(const Request &request) {
  const auto separator = request.args.at("separator").get<std::string>();
  return on_base(request, [&](auto td, auto result) {
    return td_flatten_keys(td, separator.c_str(), nullptr, result);
  });
}

const std::map<std::string, Operation> kOperations = {
    {"cat", cat},
    {"chunk", chunk},
    {"exclude", exclude},
    {"expand", expand},
    {"flatten", flatten},
    {"flatten_keys", flatten_keys},
    {"from_dict", from_dict},
    {"gather", gather},
    {"index", index},
    {"keys", keys},
    {"masked_select", masked_select},
    {"pad", pad},
    {"permute", permute},
    {"repeat", repeat},
    {"repeat_interleave", repeat_interleave},
    {"reshape", reshape},
    {"select", select},
    {"setitem", setitem},
    {"split", split},
    {"squeeze", squeeze},
    {"stack", stack},
    {"tile", tile},
    {"transpose", transpose},
    {"unbind", unbind},
    {"unsqueeze", unsqueeze},
    {"view", view},
    {"where", where},
};

}  // namespace

Operation find_operation(const std::string &name) {
  const auto found = kOperations.find(name);
  if (found != kOperations.end()) return found->second;
  const auto more = sequence_operations().find(name);
  return more == sequence_operations().end() ? Operation() : more->second;
}

}  // namespace parity
