// core/memmap/archive_verify.h: verify_memmap() of a file.
#pragma once

#include "core/memmap/verify.h"

#include <string>
#include <vector>

namespace td {

// Each entry of an archive against its checksum, and what a load would check. Paths of findings are names
// of entries.
std::vector<Finding> verify_archive(const std::string& path, int num_threads,
                                    const BytesFn& progress);

}  // namespace td
