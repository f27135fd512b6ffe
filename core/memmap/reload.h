// core/memmap/reload.h: reads a folder into an existing dictionary, and creates entries in both.
#pragma once

#include "core/memmap/memmap.h"

namespace td {

// Loads a folder into `td`: replaces tensors, fills nested dictionaries, keeps entries that the folder lacks.
// The batch sizes must be equal. Without a device in the options, tensors move to that of `td`. A locked
// dictionary must be mapped, and stays locked and mapped. A failure changes nothing.
void load_into(TensorDict& td, const std::string& dir, const LoadOptions& options = {});

// Reads the folder of `td` again, with new entries and a larger batch size. Entries missing from the folder
// stay; Code::shape if they do not fit the new batch size.
void memmap_refresh(TensorDict& td, LoadOptions options = {});

// Creates an entry of a mapped dictionary, locked or not: a file of zeros (or anonymous memory) and its line
// in meta.json. Creates missing dictionaries with their folders. The default dtype is libtorch's. Returns the
// mapped tensor.
at::Tensor make_memmap(TensorDict& td, Path path, SizesView sizes,
                       std::optional<c10::ScalarType> dtype, const MemmapOptions& options = {});

// Creates the entry with the values of a tensor.
at::Tensor make_memmap_from(TensorDict& td, Path path, const at::Tensor& source,
                            const MemmapOptions& options = {});

}  // namespace td
