// core/memmap/archive_target.h: the place of an archive that is about to be written.
#pragma once

#include "core/io/file_io.h"

#include <string>

namespace td {

// Throws Code::io when something else than a file is there, or a file that shall stay; makes the
// folders above.
void prepare_archive(const std::string& target, bool fail_if_exists, files::NewFolders& folders);

}  // namespace td
