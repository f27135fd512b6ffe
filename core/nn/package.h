// core/nn/package.h: networks that Python has compiled with AOTInductor, in packages (".pt2"). A package is a zip
// archive with a library in it, which libtorch 2.6 and newer unpacks and loads.
#pragma once

#include "core/formats/zip_file.h"
#include "core/nn/script.h"

#include <string>

namespace td {

// Whether this is such a package, or one of torch.export, and no TorchScript archive.
bool is_package(const zip_file::Reader& zip);

// Throws what load_script() throws, and Code::unsupported where libtorch cannot run packages.
// `bytes` are those that `zip` reads.
ModulePtr load_package(const zip_file::Reader& zip, const std::string& bytes,
                       const ScriptOptions& options);

// The keys of the options, else those of the file. Throws Code::key_not_found where there are none.
KeyPaths chosen_keys(const std::optional<KeyPaths>& wanted, std::optional<KeyPaths> found,
                     const char* what, const std::string& path);

}  // namespace td
