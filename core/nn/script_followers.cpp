// Reads what follows a network from "tensordict.json"; docs/guide/modules.md describes it.
#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/nn/script_members.h"
#include "core/nn/transformed.h"

namespace td {

namespace {

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

double number_or_nan(const Plain& value) {
  return value.is_number() ? value.number() : std::nan("");
}

// A number for all elements, or a list with one for each.
std::vector<double> bound_list(const Plain* given) {
  std::vector<double> list;
  if (given != nullptr && given->is(Plain::list))
    for (const Plain& one : given->items()) list.push_back(number_or_nan(one));
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
      if (!std::isfinite(number_or_nan(number)))
        members.fail_kind(one == low ? "low" : "high", "list of numbers");
  }
}

ValueSource value_source(Members& values, const char* name, ValueSource usual) {
  std::string given = value_source_name(usual);
  values.read(name, given);
  const std::optional<ValueSource> source = value_source_of_name(given);
  if (!source) fail(Code::unsupported, values.where(), ": ", quote(name), " is ", quote(given));
  return *source;
}

std::vector<double> numbers_of(Members& members, const char* name, double usual) {
  const Plain* const given = members.find(name);
  std::vector<double> list = {usual};
  if (given != nullptr && given->is(Plain::list)) {
    list.clear();
    for (const Plain& one : given->items()) list.push_back(number_or_nan(one));
  } else {
    members.read(name, list[0]);
  }
  for (const double one : list)
    if (!std::isfinite(one)) members.fail_kind(name, "list of numbers");
  if (list.empty()) members.fail_kind(name, "number, nor a list of them");
  return list;
}

TransformSpec transform(const Plain& given, const std::string& where) {
  Members members(given, where);
  std::string name;
  members.wanted("transform");
  members.read("transform", name);
  const std::optional<TransformSpec::Kind> kind = transform_of_name(name);
  if (!kind) fail(Code::unsupported, where, ": the transform ", quote(name), " is unknown");
  TransformSpec spec;
  spec.kind = *kind;
  members.read("cached", spec.cached);
  members.read("inverse", spec.inverse);
  if (spec.kind == TransformSpec::Kind::power) {
    spec.exponent = numbers_of(members, "exponent", 1);
    for (const double one : spec.exponent)
      if (one == 0) fail(Code::format, where, ": an \"exponent\" of 0 has no inverse");
  }
  if (spec.kind == TransformSpec::Kind::affine) {
    spec.loc = numbers_of(members, "loc", 0);
    spec.scale = numbers_of(members, "scale", 1);
    for (const double one : spec.scale)
      if (one == 0) fail(Code::format, where, ": a \"scale\" of 0 has no inverse");
    const std::size_t most = std::max(spec.loc.size(), spec.scale.size());
    for (const std::vector<double>* one : {&spec.loc, &spec.scale}) {
      if (one->size() != 1 && one->size() != most) {
        fail(Code::format, where, ": \"loc\" has ", spec.loc.size(), " numbers, \"scale\" ",
             spec.scale.size());
      }
    }
  }
  members.refuse_unknown();
  return spec;
}

// The transforms of a distribution, and where its values come from.
void read_transforms(Members& members, DistributionShape& shape) {
  TransformedSpec& spec = shape.transformed;
  std::string base;
  members.wanted("base");
  members.read("base", base);
  const std::optional<DistributionKind> kind = distribution_of_name(base);
  if (!kind || !can_be_transformed(*kind))
    fail(Code::unsupported, members.where(), ": the base ", quote(base),
         " is not transformed here");
  shape.base = *kind;
  const Plain& transforms = members.wanted("transforms");
  if (!transforms.is(Plain::list) || transforms.items().empty())
    members.fail_kind("transforms", "list with an object");
  for (const Plain& one : transforms.items()) {
    spec.transforms.push_back(transform(
        one, members.where() + ".transforms[" + std::to_string(spec.transforms.size()) + "]"));
  }
  members.read("event", spec.event);
  if (!spec.event && shape.base != DistributionKind::normal)
    fail(Code::format, members.where(), ": ", base, " is one event, and \"event\" is false");
  members.read("joint", spec.joint);
  members.read("estimates", spec.estimates);
  if (spec.estimates < 1)
    fail(Code::format, members.where(), ": \"estimates\" is ", spec.estimates);
  if (const Plain* const given = members.find("values")) {
    Members values(*given, members.where() + ".values");
    spec.mode = value_source(values, "mode", spec.mode);
    spec.median = value_source(values, "median", spec.median);
    spec.mean = value_source(values, "mean", spec.mean);
    spec.deterministic = value_source(values, "deterministic", spec.deterministic);
    values.refuse_unknown();
    const bool normal = shape.base == DistributionKind::normal ||
                        shape.base == DistributionKind::independent_normal;
    for (const ValueSource one : {spec.mode, spec.mean, spec.deterministic}) {
      if (one == ValueSource::log_normal && !normal)
        fail(Code::format, values.where(), ": \"log_normal\" needs a normal base");
    }
    const bool estimated =
        spec.mode == ValueSource::estimate || spec.median == ValueSource::estimate;
    if (estimated || spec.median == ValueSource::log_normal)
      fail(Code::unsupported, values.where(), ": only means are estimated");
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
  if (*kind == DistributionKind::transformed) read_transforms(members, part.shape);
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
  if (*kind != DistributionKind::transformed) {
    members.read("event", part.shape.event);
    members.read("mixture", part.shape.mixture);
  }
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

NetworkSpec network(Members& members) {
  NetworkSpec spec;
  std::optional<KeyPaths> keys;
  members.wanted("method");
  members.read("method", spec.method);
  for (const auto& [name, to] :
       {std::pair{"in_keys", &spec.in_keys}, {"out_keys", &spec.out_keys}}) {
    members.wanted(name);
    members.read(name, keys);
    *to = std::move(*keys);
  }
  read_form(members, spec.inputs, spec.batch);
  return spec;
}

}  // namespace

FollowerSpec read_follower(const Plain& given, const std::string& where) {
  Members members(given, where);
  std::string kind;
  FollowerSpec spec;
  members.wanted("kind");
  members.read("kind", kind);
  if (kind == "normal_params") {
    spec = normal_params(members);
  } else if (kind == "probabilistic") {
    spec = probabilistic(members);
  } else if (kind == "network") {
    spec = network(members);
  } else {
    fail(Code::unsupported, where, ": the kind ", quote(kind), " is unknown");
  }
  members.refuse_unknown();
  return spec;
}

}  // namespace td
