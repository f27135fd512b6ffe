// core/memmap/memmap_source.h: where the loader finds the files of a dictionary. A folder on the disk is one
// source; the entries of an archive are another.
#pragma once

#include "core/io/file_io.h"
#include "core/tree/node.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

// Paths are as files::join() makes them from root(). Links are refused everywhere, with Code::io.
class MemmapSource {
 public:
  virtual ~MemmapSource() = default;

  virtual const std::string& root() const noexcept = 0;
  virtual files::Look look(const std::string& path) const = 0;
  // The content of a file; nothing where there is none of this name.
  virtual std::optional<std::string> read(const std::string& path, std::size_t limit) const = 0;
  virtual std::vector<std::string> folders_in(const std::string& path, std::size_t limit) const = 0;

  // The first bytes of a file as a tensor on the CPU, which has at least one element; undefined where
  // there is no file of this name. Code::format when it is too short or no file.
  virtual at::Tensor leaf(const std::string& path, SizesView sizes,
                          c10::ScalarType dtype) const = 0;

  // Whether something there has changed since it was opened.
  virtual bool changed() const { return false; }

  // What nodes call their saved path: the folder, or the file that holds everything.
  virtual std::string saved_path(const std::string& dir) const = 0;
};

// What load_memmap() does with a regular file instead of a folder: the entries of an archive. Throws
// Code::format when it is none. `writable`: what is written to the tensors must reach the file.
// `called`: what its name will be, if not that.
std::unique_ptr<MemmapSource> open_archive(const std::string& path, bool writable,
                                           const std::string& called = {});

}  // namespace td
