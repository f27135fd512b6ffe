// Opens a folder or an archive in one consistent state.
#include "core/memmap/folder_source.h"
#include "core/memmap/memmap.h"
#include "core/memmap/memmap_loader.h"
#include "core/tensor/mapped_tensor.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/walk.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace td {

namespace {

using Change = FolderSource::Change;

// Limits for a folder that keeps changing. Later attempts wait a little.
constexpr int max_attempts = 200;
constexpr int quick_attempts = 10;

// Whether each mapped tensor is still the file of its name: then a changed meta.json only added rows. Moved
// tensors cannot be checked.
bool same_files(const NodePtr& node) {
  bool same = true;
  visit_values(*node, [&](const Value& value) {
    const at::Tensor* leaf = elements_of(value);
    if (!same || leaf == nullptr || leaf->numel() == 0) return;
    const MappedFile* file = mapping_of(*leaf);
    same = file != nullptr && file->is_file(file->path());
  });
  return same;
}

NodePtr load_folder(const std::string& root, const LoadOptions& options) {
  const MapMode mode = options.private_mapping ? MapMode::priv : MapMode::shared;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    if (attempt >= quick_attempts) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const FolderSource source(root, mode);
    try {
      NodePtr node = load_nodes(source.root(), options);
      const Change change = source.change();
      if (change == Change::none || (change == Change::meta && same_files(node))) return node;
    } catch (const Error& error) {
      // A writer may have removed the missing file: the root does not show changes in nested folders.
      const bool again = (attempt == 0 || source.inner_change()) &&
                         (error.code() == Code::io || error.code() == Code::format);
      if (!again && source.change() == Change::none) throw;
    }
  }
  fail(Code::busy, "\"", root, "\" was replaced by its writers again and again while it was read");
}

}  // namespace

TensorDict load_memmap(const std::string& dir, const LoadOptions& options) {
  if (dir.empty()) fail(Code::io, "no such folder: the path is empty");
  if (options.num_threads < 0) {
    fail(Code::invalid_argument, "a number of threads cannot be ", options.num_threads);
  }
  const std::string root = files::absolute(dir);
  if (files::look(root).found == files::Found::file) {
    constexpr std::string_view leaf = ".memmap";
    if (root.size() > leaf.size() &&
        root.compare(root.size() - leaf.size(), leaf.size(), leaf) == 0) {
      fail(Code::format, "\"", root,
           "\" holds the values of one tensor; load the folder around it");
    }
    return TensorDict(load_nodes(open_archive(root, options.write_through), options));
  }
  return TensorDict(load_folder(root, options));
}

}  // namespace td
