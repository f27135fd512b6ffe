// core/interop/safetensors.h: files of Hugging Face's safetensors: a length, a JSON text that says what lies
// where, and the bytes of the tensors one after the other.
#pragma once

#include "core/interop/flat_tree.h"

#include <string>
#include <utility>
#include <vector>

namespace td::safetensors {

inline constexpr std::size_t max_header_bytes = 100000000;    // as in the reference implementation
inline constexpr std::string_view extras_key = "tensordict";  // in the metadata: FlatExtras

// What a file says of itself, checked: the tensors lie one after the other up to the end of the file,
// without holes, and each is as long as its shape.
struct Header {
  struct Entry {
    std::string name;
    c10::ScalarType dtype = c10::ScalarType::Undefined;
    Sizes sizes;
    std::size_t start = 0;  // from the begin of the file
    std::size_t stop = 0;
  };
  std::vector<Entry> entries;  // in the order of the text
  std::vector<std::pair<std::string, std::string>> metadata;

  // Throws Code::format; Code::dtype for a dtype that this libtorch has not.
  static Header read(const FileBytes& file, std::size_t max_entries);
};

TensorDict load(const FileBytes& file, const FileOptions& options);

// The metadata as a JSON object of texts.
std::string metadata(const FileBytes& file, const FileOptions& options);

// Byte for byte as the reference implementation writes the same tensors and metadata.
void save(const TensorDict& td, const std::string& path, const FileOptions& options);

}  // namespace td::safetensors
