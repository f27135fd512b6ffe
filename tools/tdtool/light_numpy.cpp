#include "light_numpy.h"

#include <algorithm>

namespace light {

namespace {

constexpr std::uint64_t max_inflated = std::uint64_t{1} << 28;
constexpr unsigned stored = 0;

// Letters, digits and signs of ASCII: what others mean depends on who packed them.
bool is_plain(const std::string &name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

void read_npy(const File &file, Lines &to) {
  const Head head = [&](std::size_t bytes) {
    return file.read(0, std::min<std::uint64_t>(bytes, file.bytes()));
  };
  const Array array = read_array(head, file.bytes());
  FlatTree tree(array.records ? array.sizes : Sizes());
  for (const Array::Column &column : array.columns) {
    Sizes sizes = array.sizes;
    sizes.insert(sizes.end(), column.sizes.begin(), column.sizes.end());
    tree.tensor(array.records ? column.path : Path{"arr_0"}, column.dtype, sizes);
  }
  tree.write(to);
}

void read_npz(const Archive &archive, Lines &to) {
  const std::string suffix = ".npy";
  std::uint64_t inflated = 0;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const zip_entry &entry = archive.entry(i);
    if (entry.method == stored) continue;
    // These are read to their ends, where it shows whether they are right.
    if (entry.bytes > max_inflated || inflated > max_inflated - entry.bytes) throw NotPlain();
    inflated += entry.bytes;
  }
  if (archive.size() == 0) throw NotPlain();
  FlatTree tree({});
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const zip_entry &entry = archive.entry(i);
    const std::string name = entry.name;
    if (name.size() < suffix.size() || !is_plain(name) ||
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
      throw NotPlain();
    const Array array =
        read_array([&](std::size_t bytes) { return archive.head(entry, bytes); }, entry.bytes);
    if (array.records) throw NotPlain();
    tree.tensor(split_name(name.substr(0, name.size() - suffix.size())), array.columns[0].dtype,
                array.sizes);
    if (entry.method != stored) archive.require_whole(entry);
  }
  tree.write(to);
}

}  // namespace light
