// core/memmap/archive_verify.h: verify_memmap() for an archive.
#pragma once

#include "core/memmap/verify.h"

#include <string>
#include <vector>

namespace td {

// Checks each entry's checksum, and what a load would check. Findings name entries.
std::vector<Finding> verify_archive(const std::string& path, int num_threads,
                                    const BytesFn& progress);

}  // namespace td
