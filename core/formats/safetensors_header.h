// core/formats/safetensors_header.h: the header of Hugging Face's safetensors: a length and a JSON text that
// locates the tensors.
#pragma once

#include "core/base/sizes.h"
#include "core/formats/dtypes.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace td::safetensors {

inline constexpr std::size_t max_header_bytes = 100000000;  // as in the reference implementation
// In the metadata: the document of Python's tensordict, or FlatExtras, as the first releases of this library wrote it.
inline constexpr std::string_view extras_key = "tensordict";
// Beside the document: FlatExtras with what only this library has.
inline constexpr std::string_view native_key = "tdnative";

// A checked header: the tensors fill the rest of the file without gaps, and their lengths match their shapes.
struct Header {
  struct Entry {
    std::string name;
    DType dtype = DType::other;
    Shape sizes;
    std::size_t start = 0;  // from the beginning of the file
    std::size_t stop = 0;
  };
  std::vector<Entry> entries;  // in the order of the text
  std::vector<std::pair<std::string, std::string>> metadata;

  // `where` begins the messages. Throws Code::format; Code::dtype for a dtype that no libtorch has.
  static Header read(std::string_view file, const std::string& where, std::size_t max_entries);
};

// The dtype's rank in the reference implementation's order of tensors; nullopt if the format lacks it.
std::optional<std::size_t> order_of(DType dtype) noexcept;

}  // namespace td::safetensors
