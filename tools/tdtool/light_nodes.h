// Folders of files that describe dictionaries, wherever they lie: on the disk, or in an archive.
#ifndef TDTOOL_LIGHT_NODES_H
#define TDTOOL_LIGHT_NODES_H

#include <cstdint>
#include <memory>
#include <string>

#include "light_lines.h"

namespace light {

// One folder. Names are those of the disk.
class Place {
 public:
  virtual ~Place() = default;
  // The text of its meta.json. NotPlain without one, and where rows are counted beside it.
  virtual std::string meta() const = 0;
  // A folder in it; null where nothing has this name.
  virtual std::shared_ptr<const Place> inside(const std::string &name) const = 0;
  // Whether a regular file of at least so many bytes lies in it.
  virtual bool holds(const std::string &name, std::uint64_t bytes) const = 0;
};

// A folder on the disk, by its path: light_folder.cpp.
std::shared_ptr<const Place> open_folder(const std::string &path);

// Writes what lies at a key; an empty key: all.
void read_nodes(const std::shared_ptr<const Place> &root, const key &wanted, Lines &to);

}  // namespace light

#endif
