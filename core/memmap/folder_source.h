// core/memmap/folder_source.h: a folder on disk as a source for the loader.
#pragma once

#include "core/io/mapped_file.h"
#include "core/memmap/memmap_source.h"

#include <cstdint>

namespace td {

// Opens all files relative to the folder that was found first: if another folder replaces it meanwhile, their
// files are not mixed. Follows no link below it.
class FolderSource final : public MemmapSource {
 public:
  FolderSource(std::string root, MapMode mode);

  const std::string& root() const noexcept override { return root_; }
  files::Look look(const std::string& path) const override;
  std::optional<std::string> read(const std::string& path, std::size_t limit) const override;
  std::vector<std::string> folders_in(const std::string& path, std::size_t limit) const override;
  at::Tensor leaf(const std::string& path, SizesView sizes, c10::ScalarType dtype) const override;
  std::string saved_path(const std::string& dir) const override { return dir; }

  // Opens a file below the root for reading. On failure it is not open and errno is set.
  files::Descriptor open_file(const std::string& path) const;
  int root_folder() const noexcept { return descriptor_.get(); }

  // What happened at the root since it was opened.
  enum class Change {
    none,
    meta,    // a different meta.json
    folder,  // a different folder, or no folder
  };
  Change change() const noexcept;

  bool changed() const override { return change() != Change::none || inner_change(); }

  // Whether a recently used folder below the root was replaced.
  bool inner_change() const noexcept;

 private:
  // Identifies a file or folder and its state.
  struct Mark {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t bytes = -1;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    bool operator==(const Mark& other) const noexcept;
  };
  struct Folder {
    std::string path;
    files::Descriptor descriptor;
  };
  static constexpr std::size_t max_open = 32;

  static Mark mark_of(int folder, const char* name, int flags) noexcept;
  int folder_of(const std::string& path, const char*& name) const;
  int folder(std::string_view path) const;

  std::string root_;
  MapMode mode_;
  files::Descriptor descriptor_;
  Mark folder_mark_;
  Mark meta_mark_;
  mutable std::vector<Folder> open_;  // below the root; -1: no such folder
  mutable std::size_t last_ = 0;      // index of the last one used
  mutable std::size_t oldest_ = 0;
};

}  // namespace td
