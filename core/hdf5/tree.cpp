// Paths in a file, memory budgets and batch sizes.
#include "core/hdf5/tree.h"

#include "core/formats/format.h"

#include <optional>

namespace td::hdf5 {

std::string group_path(const std::string& group) {
  std::string path;
  for (const char c : "/" + group) {
    if (c != '/' || path.empty() || path.back() != '/') path += c;
  }
  if (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string below(const std::string& group, const std::string& name) {
  return group == "/" ? group + name : group + "/" + name;
}

void Budget::take(SizesView sizes, std::size_t item, const std::string& what) {
  const std::optional<std::int64_t> bytes = checked_bytes(sizes, item);
  if (bytes && static_cast<std::uint64_t>(*bytes) <= left_) {
    left_ -= static_cast<std::uint64_t>(*bytes);
    return;
  }
  fail(what + " of " + show_sizes(sizes));
}

void Budget::fail(const std::string& what) const {
  td::fail(Code::format, where_, ": ", what, " needs more memory than the ", all_,
           " bytes that one reading may take: max_bytes allows more");
}

void find_batch_sizes(Tree& tree, std::int64_t dims, const std::string& where) {
  std::vector<std::optional<Sizes>> common(tree.size());
  std::vector<bool> has_entries(tree.size(), false);
  // Bottom-up: content comes after its dictionary.
  for (std::size_t i = tree.size(); i-- > 0;) {
    Entry& entry = tree[i];
    if (entry.is_dict()) {
      // An empty dictionary has no batch dimensions, as in Python; one of non-tensor data follows its parent.
      if (!common[i] && has_entries[i]) continue;
      entry.sizes = common[i].value_or(Sizes());
      if (dims > 0 && entry.sizes.size() > static_cast<std::size_t>(dims)) {
        entry.sizes.resize(static_cast<std::size_t>(dims));
      }
    }
    if (i == 0) break;
    has_entries[entry.parent] = true;
    if (!entry.is_dict() && entry.holds != Holds::tensor && !entry.marked) continue;
    std::optional<Sizes>& above = common[entry.parent];
    if (!above) {
      above = entry.sizes;
      continue;
    }
    std::size_t same = 0;
    while (same < above->size() && same < entry.sizes.size() &&
           (*above)[same] == entry.sizes[same]) {
      ++same;
    }
    above->resize(same);
  }
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (!tree[i].is_dict() || common[i] || !has_entries[i]) continue;
    tree[i].sizes = i == 0 ? Sizes() : tree[tree[i].parent].sizes;
  }
  if (dims > 0 && tree[0].sizes.size() != static_cast<std::size_t>(dims)) {
    fail(Code::shape, where, ": all tensors in ", quote(tree[0].place), " begin with ",
         show_sizes(tree[0].sizes), ", too few for ", dims, " batch dimensions");
  }
}

}  // namespace td::hdf5
