// Reads files of NumPy.
#include <algorithm>

#include "core/formats/flat_extras.h"
#include "core/formats/npy_header.h"
#include "disk_places.h"

namespace disk {

namespace {

constexpr std::uint64_t max_inflated = std::uint64_t{1} << 28;

// Whether the name is printable ASCII: other encodings depend on the program that packed it.
bool is_plain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Parses an array, and checks that all its values are present.
td::numpy::Header array_in(std::string_view file) {
  td::numpy::Header array = td::numpy::read_header(file, "", max_nodes);
  if (array.item_bytes == 0 || bytes_of(array.sizes, array.item_bytes) > file.size() - array.start)
    throw NotPlain();
  return array;
}

// Empty if the values are not in row-major native order.
std::function<Bytes()> values_in(const Bytes &file, const td::numpy::Header &array) {
  const bool other = array.records || array.fortran_order || array.columns[0].swapped;
  return other ? std::function<Bytes()>() : values_of(file, array.start);
}

}  // namespace

std::function<Bytes()> values_of(Bytes file, std::size_t start) {
  return [file = std::move(file), start] { return Bytes(file, file.get() + start); };
}

std::shared_ptr<const Node> read_npy(const File &file) {
  const td::numpy::Header array = array_in({file->data(), file->bytes()});
  Tree tree(array.records ? array.sizes : Sizes());
  for (const td::numpy::Column &column : array.columns) {
    Sizes sizes = array.sizes;
    sizes.insert(sizes.end(), column.sizes.begin(), column.sizes.end());
    tree.tensor(tree.put(array.records ? column.path : Path{"arr_0"}), column.dtype, sizes,
                values_in(Bytes(file, file->data()), array));
  }
  return tree.take();
}

std::shared_ptr<const Node> read_npz(const Archive &archive) {
  const std::string_view suffix = ".npy";
  const std::string joined = td::numpy::npz_separator(archive->reader().comment());
  std::uint64_t inflated = 0;
  Tree tree({});
  for (const td::zip_file::Entry &entry : archive->reader().entries()) {
    const std::string_view name = entry.name;
    if (!is_plain(name) || !td::files::ends_with(name, suffix)) throw NotPlain();
    if (entry.method != td::zip_file::method_stored) inflated += entry.bytes;
    if (inflated > max_inflated) throw NotPlain();
    const Bytes content = content_of(archive, entry);
    const td::numpy::Header array =
        array_in({content.get(), static_cast<std::size_t>(entry.bytes)});
    if (array.records) throw NotPlain();
    tree.tensor(tree.put(td::split_name(name.substr(0, name.size() - suffix.size()), joined)),
                array.columns[0].dtype, array.sizes, values_in(content, array));
  }
  if (archive->reader().entries().empty()) throw NotPlain();
  return tree.take();
}

}  // namespace disk
