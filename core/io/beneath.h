// core/io/beneath.h: what lies below a folder that is held open. No link on the way is followed, and the folder is
// the one that was opened, whatever others do with names meanwhile. `path` is for messages.
#pragma once

#include "core/io/file_io.h"

#include <string>
#include <string_view>
#include <vector>

namespace td::files {

// For open_beneath(), of a folder that is to be listed or synced.
extern const int folder_flags;

// "": the folder itself. Not open, and errno, when it fails: ELOOP for a link.
Descriptor open_beneath(int folder, const std::string& relative, int flags,
                        unsigned mode = 0) noexcept;

// Of what is not there, or not reached without a link: Found::nothing.
Look look_beneath(int folder, const std::string& relative, const std::string& path);

// The content of a file, at most `limit` bytes (Code::format).
std::string read_beneath(int folder, const std::string& relative, std::size_t limit,
                         const std::string& path);

// What lies in a folder, without "." and "..", sorted. Links are not followed.
struct Item {
  std::string name;
  Found found;
};
std::vector<Item> list(const std::string& folder);
std::vector<Item> list(int folder, const std::string& path);  // of an open one

// The parts of "a/b/c": "a/b" and "c".
std::string_view folder_part(std::string_view relative) noexcept;
const char* name_part(const std::string& relative) noexcept;

// A path in a folder below; "": in the folder itself.
inline std::string below(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : join(folder, name);
}

enum class Rename { plain, no_replace, exchange };

// 0, or errno; EINVAL where the system or the file system has no such thing.
int rename_as(int from_folder, const char* from, int to_folder, const char* to,
              Rename how) noexcept;

}  // namespace td::files
