// core/append/append.h: folders that become longer, along the first dimension, while others read them.
//
// Values are written behind the rows that a folder says it has; then the folder says that it has more of
// them, in one step. A reader sees the old number of rows or the new one. After a process was killed the
// files hold more than the folder says: the next writer resumes after these rows.
#pragma once

#include "core/record/resize.h"
#include "core/record/writer.h"
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

struct AppendOptions : record::Options {
  Shard shard = Shard::none;
};

// A writer without capacity over a folder, from its end on. Where there is none it is made, without rows,
// with the entries of `like`; nullptr: it must be there. With several batch dimensions a row is all that
// stands at one place of the first. One writer works on a folder at a time (Code::busy).
std::unique_ptr<record::Writer> open_append(const std::string& dir, const TensorDict* like,
                                            const AppendOptions& options = {});

// Adds the rows of a dictionary, all of them or none. A folder with a lazy stack along the first
// dimension gets the dictionary as one more element.
void memmap_append(const std::string& dir, const TensorDict& td, const AppendOptions& options = {});

// Keeps the first rows, or elements, and gives the room of others back. More than the folder says it has:
// publishes those that an interrupted writer has left. Rows that go must not be mapped elsewhere.
void memmap_truncate(const std::string& dir, std::int64_t rows, const AppendOptions& options = {});

using MemmapLength = record::Length;
MemmapLength memmap_length(const std::string& dir);

}  // namespace td
