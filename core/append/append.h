// core/append/append.h: extends a folder along the first dimension while others read it. Writes values behind
// the declared rows, then publishes the new number of rows in one step: readers see the old number or the new
// one. After a crash the files may hold undeclared rows: the next writer resumes after them.
#pragma once

#include "core/record/resize.h"
#include "core/record/writer.h"
#include "core/tree/tensordict.h"

#include <cstdint>
#include <memory>
#include <string>

namespace td {

// Whether a writer extends the folder itself, or a shard of its own in it: the shards 0, 1, 2 … open as one
// lazy stack.
enum class Shard {
  none,
  fresh,  // a new one
  any,    // a shard that no writer holds, else a new one
};

struct AppendOptions : record::Options {
  Shard shard = Shard::none;
  bool aside = false;  // the folder itself is being built by a caller
};

// A growing writer at the end of a folder. Creates a missing folder with the entries of `like`; nullptr: it
// must exist. With several batch dimensions, a row is an element of the first. Code::busy while another
// writer works on the folder.
std::unique_ptr<record::Writer> open_append(const std::string& dir, const TensorDict* like,
                                            const AppendOptions& options = {});

// Appends the rows of a dictionary; all or nothing. Makes a folder that is not there. A folder with a lazy stack along
// the first dimension receives the dictionary as one element.
void memmap_append(const std::string& dir, const TensorDict& td, const AppendOptions& options = {});

// Keeps the first rows or elements and frees the space of the others. With more rows than declared: publishes
// those that an interrupted writer left. Removed rows must not be mapped.
void memmap_truncate(const std::string& dir, std::int64_t rows, const AppendOptions& options = {});

using MemmapLength = record::Length;
MemmapLength memmap_length(const std::string& dir);

}  // namespace td
