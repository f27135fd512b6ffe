// core/nn/script.h: modules in TorchScript archives, written by Python. An archive is code: its author
// decides what a call does.
#pragma once

#include "core/nn/module.h"

#include <string>

namespace td {

struct ScriptOptions {
  std::optional<c10::Device> device;     // destination of parameters; unset: the CPU
  std::optional<c10::ScalarType> dtype;  // of floating-point parameters and buffers
  bool freeze = false;                   // parameters become constants
  bool optimize = false;                 // freezes, and rewrites the graph for inference
  bool train = false;               // computes as in training, with the archive's method for that
  std::optional<KeyPaths> in_keys;  // of the network; replace those in the archive
  std::optional<KeyPaths> out_keys;
  std::string sha256;  // expected checksum of the file
};

// The network, with the modules that follow it in the archive. Throws Code::io, format (not a TorchScript
// archive, or a wrong checksum), unsupported (a newer version), key_not_found (keys in neither archive nor
// options), invalid_argument.
ModulePtr load_script(const std::string& path, const ScriptOptions& options = {});

// Writes the archive again, with the current parameters and following modules. Throws Code::unsupported for
// another module.
void save_script(const Module& module, const std::string& path);

}  // namespace td
