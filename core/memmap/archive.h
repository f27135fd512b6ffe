// core/memmap/archive.h: a folder of mapped files as one zip archive, in the format of Python's tensordict
// (.tdz). docs/design/archives.md describes the entries and how they are read.
#pragma once

#include "core/memmap/memmap.h"

#include <string>

namespace td {

// Whether saving to `path` makes an archive, by its options or its name. Throws Code::invalid_argument for
// options of an archive on a path that makes a folder.
bool makes_archive(const std::string& path, const MemmapOptions& options);
void check_folder(const MemmapOptions& options);  // refuses options that only archives have

// Writes an archive, puts it in place, and opens it. Writes to its tensors stay in this process. With `zeros`
// the values are zeros, and writes reach the file.
TensorDict save_archive(const TensorDict& td, const std::string& path, const MemmapOptions& options,
                        bool zeros = false);

struct PackOptions {
  Compression compression = Compression::stored;  // of the tensors
  bool fail_if_exists = false;                    // refuses to replace a file
  bool durable = false;                           // returns when everything is on disk
};

// Whether the file is a zip archive with a meta.json at its top.
bool is_archive(const std::string& path);

// Packs a dictionary's folder into an archive, and unpacks it into a new or empty folder. Entries with a
// wrong checksum, or with a name that leads out of the folder, are Code::format.
void pack_folder(const std::string& dir, const std::string& path, const PackOptions& options = {});
void unpack_archive(const std::string& path, const std::string& dir,
                    const PackOptions& options = {});

// Recomputes the checksums after writes to an archive's tensors. Loading ignores checksums of tensors;
// unpacking and other programs check them.
void refresh_checksums(const std::string& path);

}  // namespace td
