// core/torch_files/torch_file.h: files of torch.save and torch::save: a zip archive of storages, with a pickle
// that describes the tensors.
#pragma once

#include "core/flat/flat_tree.h"

namespace td::pickled {

// How deep dictionaries of tensordict may nest: reading and writing them recurses.
inline constexpr std::size_t most_levels = 1000;

// Dictionaries, and those of Python's tensordict, stay dictionaries; lists with tensors become dictionaries with the keys "0", "1", …; other
// values become non-tensor values. Tensors that share a storage share memory.
TensorDict load(const FileBytes& file, const FileOptions& options);
at::Tensor load_tensor(const FileBytes& file, const FileOptions& options);

// What torch.save() of Python's TensorDict, or of a tensor, writes: torch.load() makes it again. Tensors that are the same
// values in memory have one storage. Code::unsupported for nested tensors, and for whole numbers beyond 64 bits.
void save(const TensorDict& td, const std::string& path, const FileOptions& options);
void save_tensor(const at::Tensor& tensor, const std::string& path, const FileOptions& options);

}  // namespace td::pickled
