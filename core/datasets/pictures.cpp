#include "core/datasets/pictures.h"

#include "core/pictures/decode.h"
#include "core/tree/bytes_value.h"

namespace td::datasets {

at::Tensor decoded(const std::vector<Plain>& files, const std::string& where,
                   std::uint64_t max_bytes) {
  std::string held;
  return decode_pictures(
      files.size(),
      [&](std::size_t row) -> std::string_view {
        held = bytes_of(files[row]).value_or("");
        return held;
      },
      [&](std::size_t row) { return text_of(where, ", row ", row); }, max_bytes);
}

}  // namespace td::datasets
