// core/datasets/pictures.h: encoded pictures in rows.
#pragma once

#include "core/tree/tensordict.h"

#include <string>
#include <vector>

namespace td::datasets {

// The files of rows (bytes, as non-tensor data have them) as one tensor [rows, height, width, …]. Fails as decode_pictures() does; `where`
// begins the messages.
at::Tensor decoded(const std::vector<Plain>& files, const std::string& where,
                   std::uint64_t max_bytes);

}  // namespace td::datasets
