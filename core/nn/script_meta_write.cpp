// Writes "tensordict.json", and builds the modules that it describes.
#include "core/formats/json_text.h"
#include "core/nn/function.h"
#include "core/nn/script_meta.h"
#include "core/nn/script_module.h"
#include "core/nn/transformed.h"
#include "core/tensor/dtype.h"

#include <charconv>

namespace td {

namespace {

std::string show(const std::string& text) { return quote(text); }
std::string show(bool truth) { return truth ? "true" : "false"; }
std::string show(std::int64_t number) { return std::to_string(number); }
std::string show(std::uint64_t number) { return std::to_string(number); }
// The shortest text that parses to the same number.
std::string show(double number) {
  char digits[40];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

std::string show(const KeyPath& key);
std::string show(const DistributionPart& part);
std::string show(const TransformSpec& spec);
std::string show(const TensorForm& form);
std::string show(const BatchSpec& spec);
std::string show(const FollowerSpec& spec);

template <class T>
std::string show(const std::vector<T>& list) {
  std::string text = "[";
  for (const T& one : list) text += (text.size() == 1 ? "" : ", ") + show(one);
  return text + "]";
}
std::string show(const KeyPath& key) { return show(key.names()); }

// {"name": value, …}
class Object {
 public:
  template <class T>
  Object& add(const char* name, const T& value) {
    return add_text(name, show(value));
  }
  Object& add(const char* name, const Object& value) { return add_text(name, value.take()); }
  template <class T>
  Object& add(const char* name, const std::optional<T>& value) {
    return value ? add(name, *value) : *this;
  }
  std::string take() const { return "{" + text_ + "}"; }

 private:
  Object& add_text(const char* name, const std::string& value) {
    text_ += (text_.empty() ? "\"" : ", \"") + std::string(name) + "\": " + value;
    return *this;
  }

  std::string text_;
};

std::string show(const TransformSpec& spec) {
  Object object;
  object.add("transform", std::string(transform_name(spec.kind)));
  if (spec.kind == TransformSpec::Kind::affine)
    object.add("loc", spec.loc).add("scale", spec.scale);
  if (spec.kind == TransformSpec::Kind::power) object.add("exponent", spec.exponent);
  if (spec.inverse) object.add("inverse", true);
  if (spec.cached) object.add("cached", true);
  return object.take();
}

void add_transforms(Object& object, const DistributionShape& shape) {
  const TransformedSpec& spec = shape.transformed;
  const auto source = [](ValueSource one) { return std::string(value_source_name(one)); };
  Object values;
  values.add("mode", source(spec.mode)).add("median", source(spec.median));
  values.add("mean", source(spec.mean)).add("deterministic", source(spec.deterministic));
  object.add("base", std::string(distribution_name(shape.base)))
      .add("transforms", spec.transforms)
      .add("event", spec.event)
      .add("joint", spec.joint)
      .add("estimates", spec.estimates)
      .add("values", values);
}

std::string show(const DistributionPart& part) {
  const DistributionShape& shape = part.shape;
  const DistributionShape usual;
  Object object;
  object.add("distribution", std::string(distribution_name(shape.kind))).add("in_keys", part.keys);
  if (!part.names.empty()) object.add("names", part.names);
  object.add("out_key", part.out_key).add("log_prob_key", part.log_prob_key);
  if (shape.kind == DistributionKind::transformed) add_transforms(object, shape);
  if (!shape.lows.empty()) {
    object.add("low", shape.lows).add("high", shape.highs);
  } else if (is_bounded(shape.root())) {
    object.add("low", shape.low).add("high", shape.high);
  }
  if (shape.event) object.add("event", true);
  if (shape.mixture) object.add("mixture", true);
  if (shape.tanh_loc) object.add("tanh_loc", true);
  if (shape.upscale != usual.upscale) object.add("upscale", shape.upscale);
  return object.take();
}

std::string follower_json(const NormalParamOptions& options) {
  Object object;
  object.add("kind", std::string("normal_params"))
      .add("in_key", options.in_key)
      .add("loc_key", options.loc_key)
      .add("scale_key", options.scale_key)
      .add("scale_mapping", options.scale_mapping)
      .add("scale_lb", options.scale_lb);
  return object.take();
}

std::string follower_json(const ProbabilisticSpec& spec) {
  Object object;
  object.add("kind", std::string("probabilistic"))
      .add("distributions", spec.parts)
      .add("interaction", std::string(interaction_name(spec.options.interaction)))
      .add("return_log_prob", spec.options.return_log_prob)
      .add("num_samples", spec.options.num_samples)
      .add("seed", spec.options.seed)
      .add("seed_key", spec.options.seed_key);
  return object.take();
}

std::string follower_json(const NetworkSpec& spec) {
  Object object;
  object.add("kind", std::string("network"))
      .add("method", spec.method)
      .add("in_keys", spec.in_keys)
      .add("out_keys", spec.out_keys)
      .add("inputs", spec.inputs)
      .add("batch", spec.batch);
  return object.take();
}

std::string show(const FollowerSpec& spec) {
  return std::visit([](const auto& one) { return follower_json(one); }, spec);
}

std::string show(const TensorForm& form) {
  Object object;
  object.add("dtype", dtype_name(form.dtype)).add("shape", form.shape);
  return object.take();
}

std::string show(const BatchSpec& spec) {
  Object object;
  object.add("dims", spec.dims).add("direct", spec.direct).add("flat", spec.flat);
  if (!spec.front.empty()) object.add("front", spec.front);
  if (!spec.empty) object.add("empty", false);
  if (spec.modules > 1) object.add("modules", spec.modules);
  return object.take();
}

// Makes a module that follows the first network.
struct Maker {
  const AnotherNetwork& another;

  ModulePtr operator()(const NormalParamOptions& options) const {
    return module_normal_params(options);
  }
  ModulePtr operator()(const ProbabilisticSpec& spec) const {
    return module_probabilistic(spec.parts, spec.options);
  }
  ModulePtr operator()(const NetworkSpec& spec) const { return another(spec); }
};

std::optional<FollowerSpec> spec_of(const Module& module) {
  const auto* script = dynamic_cast<const ScriptModule*>(&module);
  if (script == nullptr) return follower_spec(module);
  NetworkSpec spec{script->method(), script->in_keys(), script->out_keys(), {}, {}};
  spec.batch = script->form().spec();
  if (spec.batch) spec.inputs = script->form().inputs();
  return spec;
}

}  // namespace

std::string script_meta_json(const ScriptMeta& meta) {
  const bool alone = meta.then.empty() && !meta.select_out_keys && !meta.inputs;
  Object object;
  object.add("version", std::int64_t{meta.batch ? 3
                                     : alone    ? 1
                                                : 2})
      .add("in_keys", meta.in_keys)
      .add("out_keys", meta.out_keys);
  if (alone) return object.take();
  object.add("inputs", meta.inputs)
      .add("batch", meta.batch)
      .add("then", meta.then)
      .add("select_out_keys", meta.select_out_keys);
  return object.take();
}

BatchForm batch_form(const std::optional<std::vector<TensorForm>>& inputs,
                     const std::optional<BatchSpec>& batch, const KeyPaths& in_keys,
                     const std::string& where) {
  if (!batch) return {};
  if (inputs->size() != in_keys.size()) {
    fail(Code::invalid_argument, where, " describes ", inputs->size(), " inputs, but there are ",
         in_keys.size(), " in_keys: ", show_keys(in_keys));
  }
  return {*inputs, *batch};
}

void convert_inputs(ScriptMeta& meta, c10::ScalarType dtype) {
  const auto convert = [&](std::optional<std::vector<TensorForm>>& inputs) {
    if (!inputs) return;
    for (TensorForm& one : *inputs)
      if (c10::isFloatingType(one.dtype)) one.dtype = dtype;
  };
  convert(meta.inputs);
  for (FollowerSpec& one : meta.then)
    if (auto* network = std::get_if<NetworkSpec>(&one)) convert(network->inputs);
}

ModulePtr with_followers(ModulePtr network, const AnotherNetwork& another, const ScriptMeta& meta,
                         const std::string& where) {
  if (meta.then.empty() && !meta.select_out_keys) return network;
  std::vector<ModulePtr> modules = {std::move(network)};
  SequenceOptions options;
  options.of_archive = true;
  options.out_keys = meta.select_out_keys;
  try {
    for (const FollowerSpec& spec : meta.then) modules.push_back(std::visit(Maker{another}, spec));
    return module_sequence(std::move(modules), options);
  } catch (const Error& error) {
    const bool lacks = error.code() == Code::unsupported;
    fail(lacks ? Code::unsupported : Code::format, where, ": ", error.what());
  }
}

const Module& network_of(const Module& module, ScriptMeta& meta) {
  const SequenceOptions* options = sequence_options(module);
  if (options == nullptr) return module;
  const std::vector<ModulePtr> parts = module.parts();
  if (!options->of_archive || parts.empty()) {
    fail(Code::unsupported, "only modules that were loaded from a file are saved; this is ",
         module.to_string());
  }
  meta.select_out_keys = options->out_keys;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    std::optional<FollowerSpec> spec = spec_of(*parts[i]);
    if (!spec) fail(Code::unsupported, "this module is not saved: ", parts[i]->to_string());
    meta.then.push_back(std::move(*spec));
  }
  return *parts[0];
}

}  // namespace td
