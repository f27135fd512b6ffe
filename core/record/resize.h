// core/record/resize.h: how long a folder is, and fewer rows, or those back that a writer has left.
#pragma once

#include "core/record/layout.h"
#include "core/record/options.h"

namespace td::record {

// `stored` differs from `rows` after a crash: more are those that a writer has left, fewer mean that files
// were cut.
struct Length {
  std::int64_t rows = 0;    // that the folder says it has
  std::int64_t stored = 0;  // whole ones in all of its files
  std::int64_t spare = 0;   // bytes behind the end, all files together
};
Length length_of(const Layout& folder);

// Keeps the first rows, and gives the room of others back. More than folder.rows(): publishes those that a
// writer has left. Code::index when there are fewer; Code::format when a file has fewer.
void truncate(Layout& folder, files::FolderLock& lock, std::int64_t rows, const Options& options);

[[noreturn]] void fail_kept(const Layout& folder, std::int64_t rows, std::int64_t all);

}  // namespace td::record
