// core/record/known_sums.h: what this process hashed of the folders that it appended to last, so that the next append hashes
// its own rows only.
#pragma once

#include "core/formats/checksums.h"
#include "core/record/layout.h"

#include <deque>
#include <optional>

namespace td::record {

// One for each leaf of the folder. Its file of checksums has the same sums now.
void keep_sums(const Layout& folder, std::deque<Hasher>&& sums) noexcept;

// What was kept, once; nothing if the files or their checksums have changed since.
std::optional<std::deque<Hasher>> take_kept_sums(const Layout& folder);

}  // namespace td::record
