// core/memmap/memmap_folder.h: a folder with files of a dictionary as the loader sees it, on disk or in an
// archive.
#pragma once

#include "core/io/beneath.h"
#include "core/tree/node.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

class MemmapFolder;
using FolderPtr = std::shared_ptr<const MemmapFolder>;

// Addressed by the names of what is directly inside. Links are Code::io. Threads may share a folder.
class MemmapFolder {
 public:
  virtual ~MemmapFolder() = default;

  const std::string& path() const noexcept { return path_; }  // absolute
  std::string path_of(std::string_view name) const { return files::join(path_, name); }
  // The path from the root, which itself has "".
  std::string relative() const { return path_.substr(begin_); }
  std::string relative(std::string_view name) const { return files::below(relative(), name); }

  // The folder of this name; nullptr if it does not exist.
  virtual FolderPtr inside(const std::string& name) const = 0;
  virtual files::Look look(const std::string& name) const = 0;
  // The content of a file; nullopt if it does not exist.
  virtual std::optional<std::string> read(const std::string& name, std::size_t limit) const = 0;
  // The names of the folders inside, sorted.
  virtual std::vector<std::string> folders(std::size_t limit) const = 0;

  // The first bytes of a file as a CPU tensor with at least one element; undefined if the file does not
  // exist. Code::format if it is too short or not a file.
  virtual at::Tensor leaf(const std::string& name, SizesView sizes,
                          c10::ScalarType dtype) const = 0;

  // Whether anything has changed since the root was opened.
  virtual bool changed() const { return false; }

  // The saved path of a node here: none in an archive, where it cannot be saved back.
  virtual std::string saved_path() const { return {}; }

 protected:
  explicit MemmapFolder(std::string root) : path_(std::move(root)), begin_(path_.size()) {}
  MemmapFolder(const MemmapFolder& above, std::string_view name)
      : path_(above.path_of(name)),
        begin_(above.begin_ == above.path_.size() ? path_.size() - name.size() : above.begin_) {}

 private:
  std::string path_;
  std::size_t begin_;  // of the path from the root
};

// Opens a regular file as an archive, and returns its top; Code::format if it is not one. `writable`: writes
// to the tensors must reach the file. `called`: its future name, if different.
FolderPtr open_archive(const std::string& path, bool writable, const std::string& called = {});

}  // namespace td
