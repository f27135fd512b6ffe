// core/nn/script_meta.h: what "tensordict.json" in an archive says: the keys of the network, and the modules that
// follow it.
#pragma once

#include "core/nn/probabilistic.h"

namespace td {

// A tensor that a package was compiled for; -1 stands for any size.
struct TensorForm {
  c10::ScalarType dtype;
  std::vector<std::int64_t> shape;
};

struct ScriptMeta {
  std::optional<KeyPaths> in_keys, out_keys;      // of the network
  std::optional<std::vector<TensorForm>> inputs;  // one for each of the in_keys
  std::vector<FollowerSpec> then;
  std::optional<KeyPaths> select_out_keys;  // of all outputs, only these are written
};

// Throws Code::format, key_invalid, or unsupported for what a newer version may know.
ScriptMeta read_script_meta(std::string_view json, const std::string& where);

// Version 1, which every reader knows, where the network is alone.
std::string script_meta_json(const ScriptMeta& meta);

// The network with its followers. Its parameters are those of the network, under their own names.
ModulePtr with_followers(ModulePtr network, const ScriptMeta& meta, const std::string& where);

// The opposite: the network of such a module, and what follows it. Throws Code::unsupported for another module.
const Module& network_of(const Module& module, ScriptMeta& meta);

}  // namespace td
