// core/io/folder_support.h: what folder.cpp is made of.
#pragma once

#include "core/io/folder.h"

namespace td::files {

// Begins, or ends, the names of all that is unfinished.
inline constexpr std::string_view unfinished = ".tmp-";

[[noreturn]] void fail_busy(const std::string& path);

enum class Claim { made, again, taken };

// Makes a folder that this writer alone has. `shared_name`: others would use the same.
Claim claim(const std::string& path, const std::string& target, bool shared_name, FolderLock& lock);

}  // namespace td::files
