// core/memmap/archive_target.h: prepares the path of a new archive.
#pragma once

#include "core/io/file_io.h"

#include <string>

namespace td {

// Creates missing parent folders. Throws Code::io if something other than a file exists, or a file that must
// stay.
void prepare_archive(const std::string& target, bool fail_if_exists, files::NewFolders& folders);

}  // namespace td
