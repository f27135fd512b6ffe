// Places with the files of a dictionary, in a folder on disk or in an archive; and single files.
#ifndef TDTOOL_DISK_PLACES_H
#define TDTOOL_DISK_PLACES_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/formats/zip_file.h"
#include "core/io/mapped_file.h"
#include "disk_node.h"

namespace disk {

using Archive = std::shared_ptr<const td::zip_file::MappedArchive>;
using File = std::shared_ptr<const td::MappedFile>;

// A folder, addressed by file names.
class Place {
 public:
  virtual ~Place() = default;
  // The text of its meta.json. NotPlain if rows are counted in another file.
  virtual std::string meta() const = 0;
  // A subfolder; null if it does not exist.
  virtual std::shared_ptr<const Place> inside(const std::string &name) const = 0;
  // Whether it has a regular file of at least `bytes` bytes.
  virtual bool holds(const std::string &name, std::uint64_t bytes) const = 0;
  // The file's first bytes.
  virtual Bytes bytes(const std::string &name, std::uint64_t bytes) const = 0;
};

// disk_places.cpp: a folder on disk, and the root folder of an archive.
std::shared_ptr<const Place> open_folder(const std::string &path);
std::shared_ptr<const Place> open_archive(Archive archive);
// The content of an entry: in place if stored, else inflated and verified.
Bytes content_of(const Archive &archive, const td::zip_file::Entry &entry);

// disk_nodes.cpp: the node at a key; if it is not found, all nodes, because the key may be a tensor or a value.
std::shared_ptr<const Node> read_nodes(const std::shared_ptr<const Place> &root, const key &wanted,
                                       bool &found);

// disk_files.cpp: files of NumPy, and values from `start` on in a file.
std::shared_ptr<const Node> read_npy(const File &file);
std::shared_ptr<const Node> read_npz(const Archive &archive);
std::function<Bytes()> values_of(Bytes file, std::size_t start);
// disk_safetensors.cpp
std::shared_ptr<const Node> read_safetensors(const File &file);

}  // namespace disk

#endif
