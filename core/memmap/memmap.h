// core/memmap/memmap.h: dictionaries in folders of mapped files, in the format of Python's tensordict.
#pragma once

#include "core/tree/tensordict.h"

#include <cstdint>
#include <optional>
#include <string>

namespace td {

struct WorkCount;  // core/base/progress.h

// Whether all goes into one file, core/memmap/archive.h; by name: when that ends with ".tdz".
enum class Archive : std::uint8_t { by_name, yes, no };
enum class Compression : std::uint8_t { stored, deflate };

struct MemmapOptions {
  int num_threads = 0;          // how many write; 0 and 1: the calling one
  bool copy_existing = false;   // tensors that are mapped from elsewhere are copied, not refused
  bool fail_if_exists = false;  // a file that is there already is an error, not replaced
  bool verbatim_names = false;  // file names are the keys as they are, not escaped
  bool dense_sub_tensordicts =
      false;             // a sub-tensordict is saved as what it reads, not with all it is a part of
  bool durable = false;  // waits until all of it is on the disk
  bool aside = false;    // the folder is one in which something larger is being made
  bool checksums = false;      // a file with checksums is made, core/formats/checksums.h
  WorkCount* count = nullptr;  // counts the tensors that are written
  Archive archive = Archive::by_name;
  Compression compression = Compression::stored;  // of the tensors in an archive
};

struct LoadOptions {
  std::optional<c10::Device> device;  // none: the one that the folder names
  bool private_mapping = false;       // what is written to the tensors does not reach the files
  bool verbatim_names = false;
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;    // all levels together
  std::vector<std::string> subpath = {};  // of a nested dictionary that is loaded alone
  bool write_through = false;             // what is written to the tensors of an archive reaches it
  bool quiet = false;                     // nothing is said of what cannot be read
  bool counts = true;                     // rows that are counted are there, see row_count.h
};

// Saves a dictionary to a folder and gives one that is mapped from it: locked, on the CPU. An empty
// `dir` stands for the folder that the dictionary has already, and maps nameless memory if it has
// none.
//
// Everything is checked first; then all is written into a folder beside its place, which then takes
// the place (core/io/folder.h). A failure leaves each file as it was. Code::busy while another one writes
// there. Files in the folder that are none of the dictionary that was there before stay.
TensorDict memmap(const TensorDict& td, const std::string& dir, const MemmapOptions& options = {});

// The same, and `td` itself becomes the result. Left as it was on failure.
void memmap_inplace(TensorDict& td, const std::string& dir, const MemmapOptions& options = {});

// The same of the sizes and dtypes alone, filled with zeros.
TensorDict memmap_like(const TensorDict& td, const std::string& dir,
                       const MemmapOptions& options = {});

// Maps a folder. The result is not locked and not flagged as mapped, but knows its folder. Nothing
// in the folder is trusted: sizes, names, nesting and links are checked before they are used.
TensorDict load_memmap(const std::string& dir, const LoadOptions& options = {});

// Waits until what was written to mapped tensors is on the disk.
void memmap_flush(const TensorDict& td);

}  // namespace td
