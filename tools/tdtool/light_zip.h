// Zip archives as the light readers take them: of dictionaries, and of NumPy.
#ifndef TDTOOL_LIGHT_ZIP_H
#define TDTOOL_LIGHT_ZIP_H

#include <memory>
#include <string>
#include <unordered_map>

#include "light_file.h"
#include "light_nodes.h"
#include "zip.h"

namespace light {

class Archive {
 public:
  explicit Archive(std::unique_ptr<const File> file);  // NotPlain when it is none, or damaged
  Archive(const Archive &) = delete;
  Archive &operator=(const Archive &) = delete;
  ~Archive();

  std::size_t size() const noexcept { return zip_.length; }
  const zip_entry &entry(std::size_t position) const noexcept { return zip_.entries[position]; }
  const zip_entry *find(const std::string &name) const noexcept;  // null: there is none
  bool holds_folder(const std::string &name) const noexcept;      // of which something has the name

  // Its first bytes, at most so many; no checksum tells whether they are right.
  std::string head(const zip_entry &entry, std::size_t bytes) const;
  std::string text(const zip_entry &entry, std::size_t most) const;  // all of it, and right
  void require_whole(const zip_entry &entry) const;

 private:
  std::unique_ptr<const File> file_;
  zip zip_{};
  std::unordered_map<std::string, std::size_t> names_;  // of entries, and of folders: size()
};

// The root of a dictionary in an archive.
std::shared_ptr<const Place> open_archive(std::shared_ptr<const Archive> archive);

}  // namespace light

#endif
