// Opening a folder or an archive as a whole: what is read is never a mixture of two states.
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

// Of a folder that changes faster than it can be read. The later ones wait a little.
constexpr int max_attempts = 200;
constexpr int quick_attempts = 10;

// Whether every mapped tensor still is the file of its name. Then another meta.json beside them has
// only added to them. Of tensors that were moved nothing is known.
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
      NodePtr node = load_nodes(source, options);
      const Change change = source.change();
      if (change == Change::none || (change == Change::meta && same_files(node))) return node;
    } catch (const Error& error) {
      // What is missing may have been taken away by a writer: of a nested folder, the root says nothing.
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
  const std::string root = files::absolute(dir);
  if (files::look(root).found == files::Found::file) {
    constexpr std::string_view leaf = ".memmap";
    if (root.size() > leaf.size() &&
        root.compare(root.size() - leaf.size(), leaf.size(), leaf) == 0) {
      fail(Code::format, "\"", root,
           "\" holds the values of one tensor; load the folder around it");
    }
    return TensorDict(load_nodes(*open_archive(root, options.write_through), options));
  }
  return TensorDict(load_folder(root, options));
}

}  // namespace td
