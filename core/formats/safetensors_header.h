// core/formats/safetensors_header.h: files of Hugging Face's safetensors: a length, a JSON text that says what lies
// where, and the bytes of the tensors one after the other.
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

inline constexpr std::size_t max_header_bytes = 100000000;    // as in the reference implementation
inline constexpr std::string_view extras_key = "tensordict";  // in the metadata: FlatExtras

// What a file says of itself, checked: the tensors lie one after the other up to the end of the file,
// without holes, and each is as long as its shape.
struct Header {
  struct Entry {
    std::string name;
    DType dtype = DType::other;
    Shape sizes;
    std::size_t start = 0;  // from the begin of the file
    std::size_t stop = 0;
  };
  std::vector<Entry> entries;  // in the order of the text
  std::vector<std::pair<std::string, std::string>> metadata;

  // `where` begins the messages. Throws Code::format; Code::dtype for a dtype that libtorch lacks in every version.
  static Header read(std::string_view file, const std::string& where, std::size_t max_entries);
};

// In which order the reference implementation sorts dtypes; nothing for one that the format lacks.
std::optional<std::size_t> order_of(DType dtype) noexcept;

}  // namespace td::safetensors
