// core/nn/script_meta.h: "tensordict.json" in an archive: the network's keys and the modules that follow it.
#pragma once

#include "core/nn/batch_form.h"
#include "core/nn/probabilistic.h"

#include <functional>

namespace td {

struct ScriptMeta {
  std::optional<KeyPaths> in_keys, out_keys;      // of the network
  std::optional<std::vector<TensorForm>> inputs;  // one for each in_key
  std::optional<BatchSpec> batch;                 // needs inputs
  std::vector<FollowerSpec> then;
  std::optional<KeyPaths> select_out_keys;  // writes only these outputs
};

// Throws Code::format, key_invalid, or unsupported for members of a newer version.
ScriptMeta read_script_meta(std::string_view json, const std::string& where);

// What the archive says about the inputs of a network, which has these keys.
BatchForm batch_form(const std::optional<std::vector<TensorForm>>& inputs,
                     const std::optional<BatchSpec>& batch, const KeyPaths& in_keys,
                     const std::string& where);

// Parameters were converted: real inputs are expected to have this dtype.
void convert_inputs(ScriptMeta& meta, c10::ScalarType dtype);

// Writes the lowest version that holds it, which older readers know.
std::string script_meta_json(const ScriptMeta& meta);

// The network with the modules that follow it; `another` makes another network of the same file.
using AnotherNetwork = std::function<ModulePtr(const NetworkSpec&)>;
ModulePtr with_followers(ModulePtr network, const AnotherNetwork& another, const ScriptMeta& meta,
                         const std::string& where);

// The reverse: the network, and in `meta` the modules that follow it. Throws Code::unsupported for another
// module.
const Module& network_of(const Module& module, ScriptMeta& meta);

}  // namespace td
