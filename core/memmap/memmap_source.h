// core/memmap/memmap_source.h: the files of a dictionary as the loader sees them, from a folder on disk or an
// archive.
#pragma once

#include "core/io/file_io.h"
#include "core/tree/node.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

// Paths are built by files::join() from root(). Links are Code::io.
class MemmapSource {
 public:
  virtual ~MemmapSource() = default;

  virtual const std::string& root() const noexcept = 0;
  virtual files::Look look(const std::string& path) const = 0;
  // The content of a file; nullopt if it does not exist.
  virtual std::optional<std::string> read(const std::string& path, std::size_t limit) const = 0;
  virtual std::vector<std::string> folders_in(const std::string& path, std::size_t limit) const = 0;

  // The first bytes of a file as a CPU tensor with at least one element; undefined if the file does not
  // exist. Code::format if it is too short or not a file.
  virtual at::Tensor leaf(const std::string& path, SizesView sizes,
                          c10::ScalarType dtype) const = 0;

  // Whether the source has changed since it was opened.
  virtual bool changed() const { return false; }

  // The saved path of the nodes: the folder, or the archive.
  virtual std::string saved_path(const std::string& dir) const = 0;
};

// Opens a regular file as an archive; Code::format if it is not one. `writable`: writes to the tensors must
// reach the file. `called`: its future name, if different.
std::unique_ptr<MemmapSource> open_archive(const std::string& path, bool writable,
                                           const std::string& called = {});

}  // namespace td
