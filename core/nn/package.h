// core/nn/package.h: networks that Python has compiled with AOTInductor, in packages (".pt2"). A package is a zip
// archive with a library in it, which libtorch 2.6 and newer unpacks and loads.
#pragma once

#include "core/nn/script.h"

#include <string>

namespace td {

// Whether these bytes are such a package, or one of torch.export, and no TorchScript archive.
bool is_package(const std::string& bytes, const std::string& path);

// Throws what load_script() throws, and Code::unsupported where libtorch cannot run packages.
ModulePtr load_package(std::string bytes, const std::string& path, const ScriptOptions& options);

// The keys of the options, else those of the file. Throws Code::key_not_found where there are none.
KeyPaths chosen_keys(const std::optional<KeyPaths>& wanted, std::optional<KeyPaths> found,
                     const char* what, const std::string& path);

}  // namespace td
