// core/memmap/folder_source.h: a folder on disk, for the loader.
#pragma once

#include "core/io/mapped_file.h"
#include "core/memmap/memmap_folder.h"

#include <cstdint>
#include <mutex>

namespace td {

// Opens all files relative to the folder that was found first: if another folder replaces it meanwhile, their
// files are not mixed. Follows no link below it. Must outlive its folders, of which it keeps some open.
class FolderSource {
 public:
  FolderSource(const std::string& root, MapMode mode);

  const FolderPtr& root() const noexcept { return root_; }
  int descriptor() const noexcept { return open_root_->descriptor.get(); }  // of the root

  // What happened at the root since it was opened.
  enum class Change {
    none,
    meta,    // a different meta.json
    folder,  // a different folder, or no folder
  };
  Change change() const noexcept;

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
  struct Open {
    std::string relative;
    files::Descriptor descriptor;
  };
  using OpenPtr = std::shared_ptr<const Open>;
  class Folder;
  static constexpr std::size_t max_open = 32;

  static Mark mark_of(int folder, const char* name, int flags) noexcept;
  OpenPtr open(const Folder& folder) const;

  MapMode mode_;
  OpenPtr open_root_;
  FolderPtr root_;
  Mark folder_mark_;
  Mark meta_mark_;
  mutable std::mutex mutex_;
  mutable std::vector<OpenPtr> open_;  // below the root
  mutable std::size_t oldest_ = 0;
};

}  // namespace td
