// core/arrays/safetensors.h: files of Hugging Face's safetensors: a length, a JSON text that locates the
// tensors, and their bytes.
#pragma once

#include "core/flat/flat_tree.h"
#include "core/formats/safetensors_header.h"

#include <string>
#include <utility>
#include <vector>

namespace td::safetensors {

TensorDict load(const FileBytes& file, const FileOptions& options);

// The metadata as a JSON object of texts.
std::string metadata(const FileBytes& file, const FileOptions& options);

// Writes byte for byte what the reference implementation writes for the same tensors and metadata.
void save(const TensorDict& td, const std::string& path, const FileOptions& options);

}  // namespace td::safetensors
