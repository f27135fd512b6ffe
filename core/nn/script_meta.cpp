// Reads "tensordict.json" of an archive; docs/guide/modules.md describes it.
#include "core/nn/script_meta.h"

#include "core/formats/digits.h"
#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/tensor/dtype.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace td {

namespace {

constexpr std::int64_t newest_version = 3;
constexpr std::size_t max_keys = 10000;
constexpr std::size_t max_followers = 1000;

// The members of one object, read by name; unread members are unknown.
class Members {
 public:
  Members(const Plain& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is(Plain::object)) fail(Code::format, where_, " is no object");
    read_.resize(object.names().size());
  }
  const std::string& where() const noexcept { return where_; }

  const Plain* find(std::string_view name) {
    const Plain* found = object_.find(name);
    if (found != nullptr) read_[static_cast<std::size_t>(found - object_.items().data())] = true;
    return found;
  }
  const Plain& wanted(std::string_view name) {
    const Plain* found = find(name);
    if (found == nullptr) fail(Code::format, where_, " lacks ", quote(name));
    return *found;
  }
  void refuse_unknown() const {
    const auto at = std::find(read_.begin(), read_.end(), false);
    if (at == read_.end()) return;
    fail(Code::format, where_, " has the unknown member ",
         quote(object_.name(static_cast<std::size_t>(at - read_.begin()))));
  }

  // Leave `to` unchanged if the member is missing.
  void read(std::string_view name, std::string& to) {
    if (const Plain* found = of_kind(name, Plain::text, "text")) to = found->characters();
  }
  void read(std::string_view name, bool& to) {
    if (const Plain* found = of_kind(name, Plain::boolean, "truth value")) to = found->truth();
  }
  void read(std::string_view name, std::int64_t& to) {
    if (const Plain* found = of_kind(name, Plain::integer, "whole number")) to = found->integral();
  }
  void read(std::string_view name, double& to) {
    const Plain* found = find(name);
    if (found == nullptr) return;
    if (!found->is_number() || !std::isfinite(found->number())) fail_kind(name, "number");
    to = found->number();
  }
  void read(std::string_view name, std::optional<std::uint64_t>& to) {
    const Plain* found = find(name);
    if (found == nullptr) return;
    std::uint64_t seed = 0;
    const bool whole = found->is(Plain::integer) && found->integral() >= 0;
    if (whole) seed = static_cast<std::uint64_t>(found->integral());
    if (!whole && (!found->is(Plain::real) || !parse_digits(found->characters(), seed)))
      fail_kind(name, "whole number from 0 to 2**64 - 1");
    to = seed;
  }
  void read(std::string_view name, KeyPath& to) {
    if (const Plain* found = find(name)) to = key(*found, name);
  }
  void read(std::string_view name, std::optional<KeyPath>& to) {
    if (const Plain* found = find(name)) to = key(*found, name);
  }
  void read(std::string_view name, std::optional<KeyPaths>& to) {
    const Plain* found = find(name);
    if (found == nullptr) return;
    if (!found->is(Plain::list)) fail_kind(name, "list of keys");
    if (found->items().size() > max_keys)
      fail(Code::format, where_, ": ", quote(name), " has more than ", max_keys, " keys");
    to.emplace();
    for (const Plain& one : found->items()) to->push_back(key(one, name));
  }

  [[noreturn]] void fail_kind(std::string_view name, const char* what) const {
    fail(Code::format, where_, ": ", quote(name), " is no ", what);
  }

 private:
  const Plain* of_kind(std::string_view name, Plain::Kind kind, const char* what) {
    const Plain* found = find(name);
    if (found != nullptr && !found->is(kind)) fail_kind(name, what);
    return found;
  }
  // A list of names, or one name.
  KeyPath key(const Plain& value, std::string_view name) const {
    std::vector<std::string> names;
    if (value.is(Plain::text)) {
      names.emplace_back(value.characters());
    } else if (value.is(Plain::list)) {
      for (const Plain& one : value.items()) {
        if (!one.is(Plain::text)) fail_key(name);
        names.emplace_back(one.characters());
      }
    } else {
      fail_key(name);
    }
    KeyPath made(std::move(names));
    check_path(made);
    return made;
  }
  [[noreturn]] void fail_key(std::string_view name) const {
    fail(Code::format, where_, ": ", quote(name), " holds no key, which is a list of names");
  }

  const Plain& object_;
  std::string where_;
  std::vector<bool> read_;
};

NormalParamOptions normal_params(Members& members) {
  NormalParamOptions options;
  options.loc_key = KeyPath(std::vector<std::string>{"loc"});
  options.scale_key = KeyPath(std::vector<std::string>{"scale"});
  members.wanted("in_key");
  members.read("in_key", options.in_key);
  members.read("loc_key", options.loc_key);
  members.read("scale_key", options.scale_key);
  members.read("scale_mapping", options.scale_mapping);
  members.read("scale_lb", options.scale_lb);
  return options;
}

// A number for all elements, or a list with one for each.
std::vector<double> bound_list(const Plain* given) {
  std::vector<double> list;
  if (given != nullptr && given->is(Plain::list))
    for (const Plain& one : given->items()) list.push_back(one.number());
  return list;
}

void read_bounds(Members& members, DistributionShape& shape) {
  const Plain *const low = members.find("low"), *const high = members.find("high");
  shape.lows = bound_list(low);
  shape.highs = bound_list(high);
  if (shape.lows.empty()) members.read("low", shape.low);
  if (shape.highs.empty()) members.read("high", shape.high);
  if (shape.lows.empty() && !shape.highs.empty()) shape.lows.assign(shape.highs.size(), shape.low);
  if (shape.highs.empty() && !shape.lows.empty()) shape.highs.assign(shape.lows.size(), shape.high);
  if (shape.lows.size() != shape.highs.size()) {
    fail(Code::format, members.where(), ": \"low\" has ", shape.lows.size(), " numbers, \"high\" ",
         shape.highs.size());
  }
  for (const Plain* const one : {low, high}) {
    if (one == nullptr || !one->is(Plain::list)) continue;
    for (const Plain& number : one->items())
      if (!number.is_number() || !std::isfinite(number.number()))
        members.fail_kind(one == low ? "low" : "high", "list of numbers");
  }
}

DistributionPart distribution(const Plain& given, const std::string& where) {
  Members members(given, where);
  DistributionPart part;
  std::string name;
  std::optional<KeyPaths> keys;
  members.wanted("distribution");
  members.read("distribution", name);
  const std::optional<DistributionKind> kind = distribution_of_name(name);
  if (!kind) fail(Code::unsupported, where, ": the distribution ", quote(name), " is unknown");
  part.shape.kind = *kind;
  members.wanted("in_keys");
  members.read("in_keys", keys);
  part.keys = std::move(*keys);
  if (const Plain* names = members.find("names")) {
    if (!names->is(Plain::list)) members.fail_kind("names", "list of names");
    for (const Plain& one : names->items()) {
      if (!one.is(Plain::text)) members.fail_kind("names", "list of names");
      part.names.emplace_back(one.characters());
    }
    if (part.names.size() != part.keys.size()) {
      fail(Code::format, where, " has ", part.names.size(), " names for ", part.keys.size(),
           " in_keys");
    }
  }
  members.wanted("out_key");
  members.read("out_key", part.out_key);
  members.read("log_prob_key", part.log_prob_key);
  read_bounds(members, part.shape);
  members.read("tanh_loc", part.shape.tanh_loc);
  members.read("upscale", part.shape.upscale);
  members.refuse_unknown();
  return part;
}

ProbabilisticSpec probabilistic(Members& members) {
  ProbabilisticSpec spec;
  const Plain& distributions = members.wanted("distributions");
  if (!distributions.is(Plain::list)) members.fail_kind("distributions", "list");
  for (const Plain& one : distributions.items()) {
    spec.parts.push_back(distribution(
        one, members.where() + ".distributions[" + std::to_string(spec.parts.size()) + "]"));
  }
  std::string interaction = interaction_name(spec.options.interaction);
  members.read("interaction", interaction);
  const std::optional<Interaction> known = interaction_of_name(interaction);
  if (!known) {
    fail(Code::format, members.where(), ": the interaction is ", quote(interaction),
         "; mode, median, mean, random and deterministic are known");
  }
  spec.options.interaction = *known;
  members.read("return_log_prob", spec.options.return_log_prob);
  members.read("num_samples", spec.options.num_samples);
  members.read("seed", spec.options.seed);
  members.read("seed_key", spec.options.seed_key);
  return spec;
}

FollowerSpec follower(const Plain& given, const std::string& where) {
  Members members(given, where);
  std::string kind;
  FollowerSpec spec;
  members.wanted("kind");
  members.read("kind", kind);
  if (kind == "normal_params") {
    spec = normal_params(members);
  } else if (kind == "probabilistic") {
    spec = probabilistic(members);
  } else {
    fail(Code::unsupported, where, ": the kind ", quote(kind), " is unknown");
  }
  members.refuse_unknown();
  return spec;
}

TensorForm tensor_form(const Plain& given, const std::string& where) {
  Members members(given, where);
  TensorForm form{};
  std::string name;
  members.wanted("dtype");
  members.read("dtype", name);
  form.dtype = parse_dtype(name, where);
  const Plain& shape = members.wanted("shape");
  if (!shape.is(Plain::list)) members.fail_kind("shape", "list");
  for (const Plain& size : shape.items()) {
    if (!size.is(Plain::integer) || size.integral() < -1)
      members.fail_kind("shape", "list of sizes, where -1 is any");
    form.shape.push_back(size.integral());
  }
  members.refuse_unknown();
  return form;
}

std::vector<std::int64_t> numbers(Members& members, std::string_view name) {
  std::vector<std::int64_t> result;
  const Plain* const found = members.find(name);
  if (found == nullptr) return result;
  if (!found->is(Plain::list)) members.fail_kind(name, "list of whole numbers");
  for (const Plain& one : found->items()) {
    if (!one.is(Plain::integer) || one.integral() < 0)
      members.fail_kind(name, "list of whole numbers");
    result.push_back(one.integral());
  }
  return result;
}

BatchSpec batch_spec(const Plain& given, const std::string& where) {
  Members members(given, where);
  BatchSpec spec;
  members.wanted("dims");
  members.read("dims", spec.dims);
  if (spec.dims < 0 || spec.dims > 64)
    fail(Code::format, where, ": \"dims\" is ", spec.dims, ", no number of dimensions");
  spec.direct = numbers(members, "direct");
  spec.flat = numbers(members, "flat");
  spec.front = numbers(members, "front");
  members.read("empty", spec.empty);
  members.refuse_unknown();
  if (spec.dims == 0 && !spec.flat.empty())
    fail(Code::format, where, ": no batch is flattened to 0 dimensions");
  return spec;
}

// Each input has the batch dimensions in front.
void check_batch(const ScriptMeta& meta, const std::string& where) {
  if (!meta.inputs) fail(Code::format, where, ": \"batch\" needs \"inputs\"");
  for (const TensorForm& form : *meta.inputs) {
    if (static_cast<std::int64_t>(form.shape.size()) >= meta.batch->dims) continue;
    fail(Code::format, where, ": an input has the shape ", show_sizes(form.shape),
         ", which has less than ", meta.batch->dims, " batch dimensions");
  }
}

void check_version(std::int64_t version) {
  if (version >= 1 && version <= newest_version) return;
  fail(Code::unsupported, "the keys of the module are of version ", version,
       "; this library reads versions 1 to ", newest_version);
}

}  // namespace

ScriptMeta read_script_meta(std::string_view json, const std::string& where) {
  const Plain tree = read_json(json, where);
  Members members(tree, where);
  ScriptMeta meta;
  std::int64_t version = 1;
  members.read("version", version);
  check_version(version);
  members.read("in_keys", meta.in_keys);
  members.read("out_keys", meta.out_keys);
  if (version == 1) {
    // Version 1 allows unknown members, but these would change the meaning.
    for (const char* name : {"then", "select_out_keys", "inputs", "batch"}) {
      if (members.find(name) == nullptr) continue;
      fail(Code::format, where, ": ", quote(name), " needs a higher \"version\" than 1");
    }
    return meta;
  }
  members.read("select_out_keys", meta.select_out_keys);
  if (const Plain* inputs = members.find("inputs")) {
    if (!inputs->is(Plain::list)) members.fail_kind("inputs", "list");
    meta.inputs.emplace();
    for (const Plain& one : inputs->items()) {
      meta.inputs->push_back(
          tensor_form(one, where + ": inputs[" + std::to_string(meta.inputs->size()) + "]"));
    }
  }
  if (const Plain* batch = version >= 3 ? members.find("batch") : nullptr) {
    meta.batch = batch_spec(*batch, where + ": batch");
    check_batch(meta, where);
  }
  if (const Plain* then = members.find("then")) {
    if (!then->is(Plain::list)) members.fail_kind("then", "list");
    if (then->items().size() > max_followers)
      fail(Code::format, where, ": more than ", max_followers, " modules follow");
    for (const Plain& one : then->items()) {
      meta.then.push_back(
          follower(one, where + ": then[" + std::to_string(meta.then.size()) + "]"));
    }
  }
  members.refuse_unknown();
  return meta;
}

}  // namespace td
