// core/torch_files/torch_file.h: files of torch.save and torch::save: a zip archive of storages, with a pickle
// that describes the tensors.
#pragma once

#include "core/flat/flat_tree.h"

namespace td::pickled {

// Dictionaries stay dictionaries; lists with tensors become dictionaries with the keys "0", "1", …; other
// values become non-tensor values. Tensors that share a storage share memory.
TensorDict load(const FileBytes& file, const FileOptions& options);
at::Tensor load_tensor(const FileBytes& file, const FileOptions& options);

}  // namespace td::pickled
