// core/memmap/memmap.h: dictionaries in folders of mapped files, in the format of Python's tensordict.
#pragma once

#include "core/tree/tensordict.h"

#include <cstdint>
#include <optional>
#include <string>

namespace td {

struct WorkCount;  // core/base/progress.h

// Whether to write one file (core/memmap/archive.h); by_name: if the path ends with ".tdz".
enum class Archive : std::uint8_t { by_name, yes, no };
enum class Compression : std::uint8_t { stored, deflate };

struct MemmapOptions {
  int num_threads = 0;          // threads that write; 0 and 1: the caller
  bool copy_existing = false;   // copies tensors mapped from elsewhere; otherwise refuses them
  bool fail_if_exists = false;  // refuses to replace files
  bool verbatim_names = false;  // uses keys as file names without escaping
  bool dense_sub_tensordicts = false;  // saves what a sub-tensordict selects, not its source
  bool durable = false;                // waits until everything is on disk
  bool aside = false;                  // the folder itself is being built by a caller
  bool checksums = false;              // writes a file of checksums, core/formats/checksums.h
  WorkCount* count = nullptr;          // counts written tensors
  Archive archive = Archive::by_name;
  Compression compression = Compression::stored;  // of tensors in an archive
};

struct LoadOptions {
  std::optional<c10::Device> device;  // nullopt: as in the folder
  bool private_mapping = false;       // writes to the tensors do not reach the files
  bool verbatim_names = false;
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;    // of all levels
  std::vector<std::string> subpath = {};  // loads only this nested dictionary
  bool write_through = false;             // writes to an archive's tensors reach the file
  bool quiet = false;                     // no warnings for what cannot be read
  bool counts = true;                     // includes counted rows, see row_count.h
  int num_threads = 0;                    // threads that read the leaves; 0 and 1: the caller
};

// Saves a dictionary to a folder and returns one mapped from it: locked, on the CPU. With an empty `dir` it
// uses the dictionary's folder, or anonymous memory if it has no folder.
// Checks everything first, writes a new folder, then puts that in place (core/io/folder.h). A failure changes
// no file. Code::busy while another writer works there. Files in the folder that are not of the old
// dictionary stay.
TensorDict memmap(const TensorDict& td, const std::string& dir, const MemmapOptions& options = {});

// Turns `td` itself into the result. A failure leaves it unchanged.
void memmap_inplace(TensorDict& td, const std::string& dir, const MemmapOptions& options = {});

// Saves sizes and dtypes only, with zeros as values.
TensorDict memmap_like(const TensorDict& td, const std::string& dir,
                       const MemmapOptions& options = {});

// Maps a folder. The result is not locked and not flagged as mapped, but knows its folder. The folder is not
// trusted: sizes, names, nesting and links are checked.
TensorDict load_memmap(const std::string& dir, const LoadOptions& options = {});

// Waits until writes to mapped tensors are on disk.
void memmap_flush(const TensorDict& td);

}  // namespace td
