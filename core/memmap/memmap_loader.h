// core/memmap/memmap_loader.h: builds the nodes of a dictionary from a folder or an archive.
#pragma once

#include "core/memmap/memmap.h"
#include "core/memmap/memmap_folder.h"

namespace td {

// The dictionary in a folder, or the nested one at `options.subpath`.
NodePtr load_nodes(const FolderPtr& root, const LoadOptions& options);

}  // namespace td
