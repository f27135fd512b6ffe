// A flush syncs the values, each meta.json, and their names.
#include "core/formats/checksums.h"
#include "core/formats/row_count.h"
#include "core/io/file_io.h"
#include "core/io/folder.h"
#include "core/memmap/memmap.h"
#include "core/tensor/mapped_tensor.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/traverse.h"

#include <algorithm>
#include <set>

namespace td {

namespace {

using files::Found;

struct Reached {
  std::vector<const MappedFile*> mapped;
  std::set<std::string> places;  // folders and archives
};

void add(const at::Tensor& tensor, Reached& to) {
  const MappedFile* file = mapping_of(tensor);
  if (file == nullptr) return;
  to.mapped.push_back(file);
  if (file->writes_through()) to.places.insert(files::parent_of(file->path()));
}

Reached reach(const NodePtr& root) {
  Reached result;
  visit_nodes(root, [&](const Node& node) {
    if (!node.saved_path().empty()) result.places.insert(node.saved_path());
    for_each_tensor(node, [&](const at::Tensor& tensor) { add(tensor, result); });
  });
  std::sort(result.mapped.begin(), result.mapped.end());
  result.mapped.erase(std::unique(result.mapped.begin(), result.mapped.end()), result.mapped.end());
  return result;
}

void sync_if_there(const std::string& path, Found what) {
  if (files::look(path).found == what) files::sync(path);
}

}  // namespace

void memmap_flush(const TensorDict& td) {
  const Reached reached = reach(td.node());
  for (const MappedFile* file : reached.mapped) file->flush();
  std::set<std::string> above;
  for (const std::string& place : reached.places) {
    const Found found = files::look(place).found;
    if (found == Found::file) files::sync(place);
    // Follows a caller's link to a folder; skips what was removed since.
    if (found == Found::folder || found == Found::link) {
      sync_if_there(files::join(place, format::meta_file), Found::file);
      sync_if_there(files::join(place, format::count_file), Found::file);
      for (const Found there : {Found::file, Found::folder}) {
        sync_if_there(files::join(place, checksums_name(there)), Found::file);
      }
      files::sync(files::join(place, "."));
    }
    if (found != Found::nothing) above.insert(files::parent_of(place));
  }
  for (const std::string& folder : above) {
    if (reached.places.count(folder) == 0) files::sync(files::join(folder, "."));
  }
}

}  // namespace td
