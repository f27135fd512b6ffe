// core/memmap/reload.h: a folder read into a dictionary that is there, and entries made in both at once.
#pragma once

#include "core/memmap/memmap.h"

namespace td {

// Puts the entries of a folder into `td`: tensors take the place of those that are there, nested
// dictionaries are filled, what the folder does not have stays. The batch sizes must be equal. Without
// a device in the options the tensors go where those of `td` are.
//
// A locked dictionary takes them only if it is mapped, and is locked and mapped afterwards. On failure
// nothing has changed.
void load_into(TensorDict& td, const std::string& dir, const LoadOptions& options = {});

// Reads the folder of `td` again: what has come meanwhile, and a batch size that has grown. An entry
// that has gone from the folder stays unless the new batch size does not fit it, which is Code::shape.
void memmap_refresh(TensorDict& td, LoadOptions options = {});

// A new entry of a mapped dictionary, locked or not: a file of zeros beside those that are there (or
// nameless memory), and its line in meta.json. Dictionaries that are missing on the way are made, with
// their folders. Without a dtype it is libtorch's default. Gives the mapped tensor.
at::Tensor make_memmap(TensorDict& td, Path path, SizesView sizes,
                       std::optional<c10::ScalarType> dtype, const MemmapOptions& options = {});

// The same with the values of a tensor.
at::Tensor make_memmap_from(TensorDict& td, Path path, const at::Tensor& source,
                            const MemmapOptions& options = {});

}  // namespace td
