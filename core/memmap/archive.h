// core/memmap/archive.h: a folder of mapped files as one zip archive, in the format of Python's tensordict
// (.tdz). Which entries there are, and how they are read, stands in docs/design/archives.md.
#pragma once

#include "core/memmap/memmap.h"

#include <string>
#include <string_view>

namespace td {

inline constexpr std::string_view archive_suffix = ".tdz";

// Whether saving to `path` makes an archive: the options say so, or the name does.
// Throws Code::invalid_argument when it does not and the options are those of an archive.
bool makes_archive(const std::string& path, const MemmapOptions& options);
void check_folder(const MemmapOptions& options);  // what can be a folder only

// Writes an archive beside its place, puts it there, and opens it. Its tensors are those of the file:
// what is written to them stays in this process. With `zeros` the values are zeros, and what is written
// reaches the file.
TensorDict save_archive(const TensorDict& td, const std::string& path, const MemmapOptions& options,
                        bool zeros = false);

struct PackOptions {
  Compression compression = Compression::stored;  // of the tensors
  bool fail_if_exists = false;                    // what is there already is an error, not replaced
  bool durable = false;                           // returns when all is on the disk
};

// Whether there is a file that load_memmap() opens: a zip archive with a meta.json at its top.
bool is_archive(const std::string& path);

// All files of a folder with a dictionary in one archive, and back. The folder is new, or empty; an
// entry whose name leads out of it, or whose checksum differs, fails with Code::format.
void pack_folder(const std::string& dir, const std::string& path, const PackOptions& options = {});
void unpack_archive(const std::string& path, const std::string& dir,
                    const PackOptions& options = {});

// Writes the checksums anew after tensors of an archive were written to. Reading does not look at
// those of tensors; unpacking and other programs do.
void refresh_checksums(const std::string& path);

}  // namespace td
