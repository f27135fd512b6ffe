// core/io/beneath.h: access relative to an open folder. Follows no link, and stays in that folder even if
// other processes rename things. `path` is for messages.
#pragma once

#include "core/io/file_io.h"

#include <string>
#include <string_view>
#include <vector>

namespace td::files {

// Flags for open_beneath() to list or sync a folder.
extern const int folder_flags;

// Opens a path; "" is the folder itself. On failure the result is not open and errno is set: ELOOP for a
// link.
Descriptor open_beneath(int folder, const std::string& relative, int flags,
                        unsigned mode = 0) noexcept;

// Found::nothing if it does not exist or is reached only through a link.
Look look_beneath(int folder, const std::string& relative, const std::string& path);

// The content of a file; Code::format above `limit` bytes.
std::string read_beneath(int folder, const std::string& relative, std::size_t limit,
                         const std::string& path);

// An entry of a folder, except "." and ".."; list() sorts them and does not follow links.
struct Item {
  std::string name;
  Found found;
};
std::vector<Item> list(const std::string& folder);
std::vector<Item> list(int folder, const std::string& path);  // of an open folder

// Splits "a/b/c" into "a/b" and "c".
std::string_view folder_part(std::string_view relative) noexcept;
const char* name_part(const std::string& relative) noexcept;

// Joins relative paths; folder "" adds nothing.
inline std::string below(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : join(folder, name);
}

enum class Rename { plain, no_replace, exchange };

// Returns 0 or errno; EINVAL if the system or the file system cannot do it.
int rename_as(int from_folder, const char* from, int to_folder, const char* to,
              Rename how) noexcept;

}  // namespace td::files
