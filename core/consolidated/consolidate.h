// core/consolidated/consolidate.h: all tensors of a dictionary in one buffer, in memory or in one file, in the format
// of Python's tensordict.
#pragma once

#include "core/tree/tensordict.h"

#include <cstdint>
#include <optional>
#include <string>

namespace td {

struct ConsolidateOptions {
  std::optional<c10::Device> device;  // none: that of the dictionary, or the CPU
  bool pinned = false;                // memory that an accelerator copies from without waiting
  bool inplace = false;               // the tensors of the dictionary itself are moved
  int num_threads = 0;                // how many copy; 0 and 1: the calling one
  bool durable = false;               // of a file: returns when it is on the disk
};

// The same content, in one buffer, locked. A dictionary that is in one already comes back itself.
TensorDict consolidate(const TensorDict& td, const ConsolidateOptions& options = {});

// Writes the file, then maps it. The file that was there stays until the new one is whole.
TensorDict consolidate_file(const TensorDict& td, const std::string& path,
                            const ConsolidateOptions& options = {});

struct OpenOptions {
  std::optional<c10::Device> device;  // none: as the file says
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;  // all levels together
  bool write_through = false;           // what is written to the tensors reaches the file
};

// Maps a file. Nothing in it is trusted.
TensorDict load_consolidated(const std::string& path, const OpenOptions& options = {});

// Locked, and all tensors lie in one buffer as consolidate() puts them there.
bool is_consolidated(const TensorDict& td);

// TensorDict::to() of a consolidated dictionary: one copy of the buffer. Nothing when it is not.
std::optional<TensorDict> move_consolidated(const TensorDict& td, c10::Device device,
                                            bool non_blocking);

}  // namespace td
