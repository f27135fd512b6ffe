// core/consolidated/consolidate.h: all tensors of a dictionary in one buffer, in memory or in a
// file, in the format of Python's tensordict.
#pragma once

#include "core/tree/tensordict.h"

#include <cstdint>
#include <optional>
#include <string>

namespace td {

struct ConsolidateOptions {
  std::optional<c10::Device> device;  // nullopt: the dictionary's, or the CPU
  bool pinned = false;                // page-locked memory
  bool inplace = false;               // moves the tensors of the dictionary itself
  int num_threads = 0;                // threads that copy; 0 and 1: the caller
  bool durable = false;               // file: return once it is on disk
};

// The same content in one buffer, locked. Returns `td` itself if it is consolidated.
TensorDict consolidate(const TensorDict& td, const ConsolidateOptions& options = {});

// Writes the file and maps it. Replaces an existing file only when the new one is complete.
TensorDict consolidate_file(const TensorDict& td, const std::string& path,
                            const ConsolidateOptions& options = {});

struct OpenOptions {
  std::optional<c10::Device> device;  // nullopt: as in the file
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;  // of all levels
  bool write_through = false;           // writes to the tensors reach the file
};

// Maps a file, which is not trusted.
TensorDict load_consolidated(const std::string& path, const OpenOptions& options = {});

// Whether it is locked and all tensors lie in one buffer as consolidate() lays them out.
bool is_consolidated(const TensorDict& td);

// Moves a consolidated dictionary with one copy of the buffer; nullopt if it is not consolidated.
std::optional<TensorDict> move_consolidated(const TensorDict& td, c10::Device device,
                                            bool non_blocking);

}  // namespace td
