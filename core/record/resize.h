// core/record/resize.h: the length of a folder, and changing it.
#pragma once

#include "core/record/layout.h"
#include "core/record/options.h"

namespace td::record {

// `stored` differs from `rows` after a crash: more rows were left by a writer; fewer mean truncated files.
struct Length {
  std::int64_t rows = 0;    // declared by the folder
  std::int64_t stored = 0;  // complete in all files
  std::int64_t spare = 0;   // bytes beyond the end, in all files
};
Length length_of(const Layout& folder);

// Keeps the first rows and frees the space of the others. With more than folder.rows(): publishes rows that a
// writer left. Code::index if there are not enough, Code::format if a file is too short.
void truncate(Layout& folder, files::FolderLock& lock, std::int64_t rows, const Options& options);

// Keeps the rows up to the last one whose flags at `path` are all set, of those that are stored: whole episodes.
// Code::key_not_found, Code::wrong_entry, Code::dtype if they are not bool, Code::shape if a row has no flag.
void keep_episodes(Layout& folder, files::FolderLock& lock, Path path, const Options& options);

[[noreturn]] void fail_kept(const Layout& folder, std::int64_t rows, std::int64_t all);

}  // namespace td::record
