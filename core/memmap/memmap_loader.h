// core/memmap/memmap_loader.h: builds the nodes of a dictionary from a folder or an archive.
#pragma once

#include "core/memmap/memmap.h"
#include "core/memmap/memmap_source.h"

namespace td {

// The dictionary in a source, or the nested one at `options.subpath`.
NodePtr load_nodes(const MemmapSource& source, const LoadOptions& options);

}  // namespace td
