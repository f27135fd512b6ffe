// core/append/grow.h: folders that become longer, along the first dimension, while others read them.
//
// Values are written behind the rows that a folder says it has; then the folder says that it has more of
// them, in one step. A reader sees the old number of rows or the new one, and the files of a process that
// was killed hold more than the folder says, which nobody reads.
#pragma once

#include "core/append/writer.h"
#include "core/tree/tensordict.h"

#include <cstdint>
#include <memory>
#include <string>

namespace td {

// Whether a growing writer works on the folder itself or on one of its own inside it: shards 0, 1, 2 …
// that open as one lazy stack.
enum class Shard {
  none,
  fresh,  // a new one
  any,    // one that nobody writes to, or a new one
};

struct AppendOptions {
  bool durable = false;            // what is published is on the disk
  bool checksums = false;          // a file of checksums is kept beside the values
  std::int64_t publish_rows = 0;   // published after as many rows; 0: by flush() and close() only
  std::int64_t publish_bytes = 0;  // the same in bytes
  std::int64_t buffer_bytes = 0;  // memory for rows that are not yet in a file; 0: 1 MiB, or 16 MiB
                                  // in the background
  bool background = false;   // files are written, and rows published, on a thread of the writer
  std::int64_t meta_ms = 0;  // how far meta.json files may be behind counted rows; 0: a second; -1:
                             // until flush() or close()
  Shard shard = Shard::none;
};

// A writer without capacity over a folder, from its end on. Where there is none it is made, without rows,
// with the entries of `like`; nullptr: it must be there. With several batch dimensions a row is all that
// stands at one place of the first. One writer works on a folder at a time (Code::busy).
std::unique_ptr<Writer> open_append(const std::string& dir, const TensorDict* like,
                                    const AppendOptions& options = {});

// Adds the rows of a dictionary, all of them or none. A folder with a lazy stack along the first
// dimension gets the dictionary as one more element.
void memmap_append(const std::string& dir, const TensorDict& td, const AppendOptions& options = {});

// Keeps the first rows, or elements, and gives the room of others back, and of what an interrupted writer
// has left. Who still has the rows mapped that go must not look at them.
void memmap_truncate(const std::string& dir, std::int64_t rows, const AppendOptions& options = {});

// How long a folder is. `stored` differs from `rows` after a crash: more is behind the end, less means
// that files were cut.
struct MemmapLength {
  std::int64_t rows = 0;    // that it says it has
  std::int64_t stored = 0;  // whole ones that all of its files hold
  std::int64_t spare = 0;   // bytes behind the end, all files together
};
MemmapLength memmap_length(const std::string& dir);

}  // namespace td
