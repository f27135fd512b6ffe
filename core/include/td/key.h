// td/key.h: names and paths. A path is one name for each level; names are never split.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace td {

using Path = c10::ArrayRef<std::string_view>;

// A path that grows and shrinks while a tree is walked.
using PathBuffer = c10::SmallVector<std::string_view, 6>;

// Seeded once in each process, so that a hostile file cannot prepare collisions.
std::uint64_t hash_name(std::string_view name) noexcept;

// Not empty path, valid UTF-8, no NUL inside; throws Code::key_invalid.
void check_path(Path path);

// "agent"/"obs", for messages.
std::string show_path(Path path);

bool is_utf8(std::string_view text) noexcept;

}  // namespace td
