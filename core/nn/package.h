// core/nn/package.h: networks compiled by Python's AOTInductor (".pt2"): a zip archive with a shared library,
// which libtorch 2.6 and newer unpacks and loads.
#pragma once

#include "core/formats/zip_file.h"
#include "core/nn/script.h"

#include <string>

namespace td {

// Whether the archive comes from AOTInductor or torch.export, not from TorchScript.
bool is_package(const zip_file::Reader& zip);

// Throws what load_script() throws, and Code::unsupported if libtorch cannot run packages. `bytes` is the
// content that `zip` reads.
ModulePtr load_package(const zip_file::Reader& zip, const std::string& bytes,
                       const ScriptOptions& options);

}  // namespace td
