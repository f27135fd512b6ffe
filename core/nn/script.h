// core/nn/script.h: modules that Python has written as TorchScript archives. Such an archive is code: whoever
// writes one decides what a call does.
#pragma once

#include "core/nn/module.h"

#include <string>

namespace td {

struct ScriptOptions {
  std::optional<c10::Device> device;     // to which parameters move; without it the CPU
  std::optional<c10::ScalarType> dtype;  // of floating-point parameters and buffers
  bool freeze = false;                   // parameters become constants
  bool optimize = false;                 // frozen, and rewritten for inference
  std::optional<KeyPaths> in_keys;       // of the network, instead of those that the archive names
  std::optional<KeyPaths> out_keys;
  std::string sha256;  // of the file; another one is refused
};

// The network, with the modules that the archive says follow it.
// Throws Code::io, format (no TorchScript archive, or a checksum that differs), unsupported (of a newer form),
// key_not_found (no keys, neither in the archive nor in the options), invalid_argument.
ModulePtr load_script(const std::string& path, const ScriptOptions& options = {});

// The archive again, with what follows the network and with the parameters as they are now. Throws
// Code::unsupported for another module.
void save_script(const Module& module, const std::string& path);

}  // namespace td
