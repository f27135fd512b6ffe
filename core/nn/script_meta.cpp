// Reads "tensordict.json" of an archive; docs/guide/modules.md describes it.
#include "core/nn/script_meta.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/formats/json_tree.h"
#include "core/tensor/dtype.h"

#include <algorithm>
#include <cstdlib>

namespace td {

namespace {

using json::Tree;

constexpr std::int64_t newest_version = 2;
constexpr std::size_t max_keys = 10000;
constexpr std::size_t max_followers = 1000;

// The members of one object, read by name; unread members are unknown.
class Members {
 public:
  Members(const Tree& object, std::string where) : object_(object), where_(std::move(where)) {
    if (object.kind != Tree::object) fail(Code::format, where_, " is no object");
    read_.resize(object.names.size());
  }
  const std::string& where() const noexcept { return where_; }

  const Tree* find(std::string_view name) {
    const Tree* found = object_.find(name);
    if (found != nullptr) read_[static_cast<std::size_t>(found - object_.items.data())] = true;
    return found;
  }
  const Tree& wanted(std::string_view name) {
    const Tree* found = find(name);
    if (found == nullptr) fail(Code::format, where_, " lacks ", quote(name));
    return *found;
  }
  void refuse_unknown() const {
    const auto at = std::find(read_.begin(), read_.end(), false);
    if (at == read_.end()) return;
    fail(Code::format, where_, " has the unknown member ",
         quote(object_.names[static_cast<std::size_t>(at - read_.begin())]));
  }

  // Leave `to` unchanged if the member is missing.
  void read(std::string_view name, std::string& to) {
    if (const Tree* found = of_kind(name, Tree::text, "text")) to = found->characters;
  }
  void read(std::string_view name, bool& to) {
    if (const Tree* found = of_kind(name, Tree::boolean, "truth value")) to = found->truth;
  }
  void read(std::string_view name, std::int64_t& to) {
    if (const Tree* found = of_kind(name, Tree::integer, "whole number")) to = found->integral;
  }
  void read(std::string_view name, double& to) {
    const Tree* found = find(name);
    if (found == nullptr) return;
    if (found->kind != Tree::integer && found->kind != Tree::real) fail_kind(name, "number");
    to = std::strtod(found->characters.c_str(), nullptr);
  }
  void read(std::string_view name, std::optional<std::uint64_t>& to) {
    const Tree* found = find(name);
    if (found == nullptr) return;
    const bool digits = found->kind == Tree::integer || found->kind == Tree::real;
    if (!digits || found->characters.find_first_not_of("0123456789") != std::string::npos)
      fail_kind(name, "whole number from 0 to 2**64 - 1");
    to = std::strtoull(found->characters.c_str(), nullptr, 10);
  }
  void read(std::string_view name, KeyPath& to) {
    if (const Tree* found = find(name)) to = key(*found, name);
  }
  void read(std::string_view name, std::optional<KeyPath>& to) {
    if (const Tree* found = find(name)) to = key(*found, name);
  }
  void read(std::string_view name, std::optional<KeyPaths>& to) {
    const Tree* found = find(name);
    if (found == nullptr) return;
    if (found->kind != Tree::list) fail_kind(name, "list of keys");
    if (found->items.size() > max_keys)
      fail(Code::format, where_, ": ", quote(name), " has more than ", max_keys, " keys");
    to.emplace();
    for (const Tree& one : found->items) to->push_back(key(one, name));
  }

  [[noreturn]] void fail_kind(std::string_view name, const char* what) const {
    fail(Code::format, where_, ": ", quote(name), " is no ", what);
  }

 private:
  const Tree* of_kind(std::string_view name, Tree::Kind kind, const char* what) {
    const Tree* found = find(name);
    if (found != nullptr && found->kind != kind) fail_kind(name, what);
    return found;
  }
  // A list of names, or one name.
  KeyPath key(const Tree& value, std::string_view name) const {
    std::vector<std::string> names;
    if (value.kind == Tree::text) {
      names.push_back(value.characters);
    } else if (value.kind == Tree::list) {
      for (const Tree& one : value.items) {
        if (one.kind != Tree::text) fail_key(name);
        names.push_back(one.characters);
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

  const Tree& object_;
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

DistributionPart distribution(const Tree& given, const std::string& where) {
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
  if (const Tree* names = members.find("names")) {
    if (names->kind != Tree::list) members.fail_kind("names", "list of names");
    for (const Tree& one : names->items) {
      if (one.kind != Tree::text) members.fail_kind("names", "list of names");
      part.names.push_back(one.characters);
    }
    if (part.names.size() != part.keys.size()) {
      fail(Code::format, where, " has ", part.names.size(), " names for ", part.keys.size(),
           " in_keys");
    }
  }
  members.wanted("out_key");
  members.read("out_key", part.out_key);
  members.read("log_prob_key", part.log_prob_key);
  members.read("low", part.shape.low);
  members.read("high", part.shape.high);
  members.read("tanh_loc", part.shape.tanh_loc);
  members.read("upscale", part.shape.upscale);
  members.refuse_unknown();
  return part;
}

ProbabilisticSpec probabilistic(Members& members) {
  ProbabilisticSpec spec;
  const Tree& distributions = members.wanted("distributions");
  if (distributions.kind != Tree::list) members.fail_kind("distributions", "list");
  for (const Tree& one : distributions.items) {
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

FollowerSpec follower(const Tree& given, const std::string& where) {
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

TensorForm tensor_form(const Tree& given, const std::string& where) {
  Members members(given, where);
  TensorForm form{};
  std::string name;
  members.wanted("dtype");
  members.read("dtype", name);
  form.dtype = parse_dtype(name, where);
  const Tree& shape = members.wanted("shape");
  if (shape.kind != Tree::list) members.fail_kind("shape", "list");
  for (const Tree& size : shape.items) {
    if (size.kind != Tree::integer || size.integral < -1)
      members.fail_kind("shape", "list of sizes, where -1 is any");
    form.shape.push_back(size.integral);
  }
  members.refuse_unknown();
  return form;
}

void check_version(std::int64_t version) {
  if (version >= 1 && version <= newest_version) return;
  fail(Code::unsupported, "the keys of the module are of version ", version,
       "; this library reads versions 1 and ", newest_version);
}

}  // namespace

ScriptMeta read_script_meta(std::string_view json, const std::string& where) {
  const Tree tree = json::read_tree(json, where);
  Members members(tree, where);
  ScriptMeta meta;
  std::int64_t version = 1;
  members.read("version", version);
  check_version(version);
  members.read("in_keys", meta.in_keys);
  members.read("out_keys", meta.out_keys);
  if (version == 1) {
    // Version 1 allows unknown members, but these would change the meaning.
    for (const char* name : {"then", "select_out_keys", "inputs"}) {
      if (members.find(name) == nullptr) continue;
      fail(Code::format, where, ": ", quote(name), " needs \"version\": 2");
    }
    return meta;
  }
  members.read("select_out_keys", meta.select_out_keys);
  if (const Tree* inputs = members.find("inputs")) {
    if (inputs->kind != Tree::list) members.fail_kind("inputs", "list");
    meta.inputs.emplace();
    for (const Tree& one : inputs->items) {
      meta.inputs->push_back(
          tensor_form(one, where + ": inputs[" + std::to_string(meta.inputs->size()) + "]"));
    }
  }
  if (const Tree* then = members.find("then")) {
    if (then->kind != Tree::list) members.fail_kind("then", "list");
    if (then->items.size() > max_followers)
      fail(Code::format, where, ": more than ", max_followers, " modules follow");
    for (const Tree& one : then->items) {
      meta.then.push_back(
          follower(one, where + ": then[" + std::to_string(meta.then.size()) + "]"));
    }
  }
  members.refuse_unknown();
  return meta;
}

}  // namespace td
