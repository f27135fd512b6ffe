// core/interop/torch_file.h: what torch.save and torch::save write: a zip archive of storages, and a pickle that
// says which tensors lie in them.
#pragma once

#include "core/interop/flat_tree.h"

namespace td::pickled {

// Whether a zip archive is one of these.
bool looks_like(const FileBytes& file) noexcept;

// Dictionaries become dictionaries; lists that hold tensors too, with the names "0", "1", ...; other
// values, non-tensor values. Tensors that share a storage share memory.
TensorDict load(const FileBytes& file, const FileOptions& options);
at::Tensor load_tensor(const FileBytes& file, const FileOptions& options);

}  // namespace td::pickled
