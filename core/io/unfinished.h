// core/io/unfinished.h: names of unfinished work, and how to tell it from stored data. New work for `NAME` is
// built in `.NAME.%tmp/%tmp` beside it; NAME is empty inside a folder that is being built. A rewritten file
// of a dictionary is `.%tmp-PROCESS-NUMBER`. No key has such a file: escape() never writes "%t", files of
// values end with ".memmap", and folders of dictionaries have a meta.json. See docs/design/disk.md.
#pragma once

#include "core/io/folder_lock.h"

#include <string>
#include <string_view>

namespace td::files {

inline constexpr std::string_view unfinished = "%tmp";

// The folder in which work for this name is built.
std::string name_aside(std::string_view name);

// The name of a file to be rewritten; `number` must be unique in the process.
std::string name_of_new_file(unsigned number);

// Whether an item of an open folder is unfinished. Folders are judged by content, not by name.
bool is_unfinished(int folder, const Item& item);

// Throws Code::io for paths that look like unfinished work.
void check_target(const std::string& path);

// Remove unfinished work for `name`, or unfinished files, in `folder`, unless a process holds their lock.
void remove_left_aside(int folder, const std::string& name) noexcept;
void remove_left_files(int folder, const std::string& path);

// A file or folder being built.
class Aside {
 public:
  enum class Kind { file, folder };

  // Builds in an open folder. Throws Code::busy, naming the target, if another writer builds the same folder;
  // files may be built several at a time.
  Aside(Descriptor parent, const std::string& parent_path, const std::string& name, Kind kind,
        const std::string& target);
  ~Aside() { remove(); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  const std::string& path() const noexcept { return path_; }
  int parent() const noexcept { return parent_.get(); }
  int content() const noexcept;  // the folder, or the file open for reading and writing
  FolderLock& lock() noexcept { return lock_; }  // on the folder

  // Gives the content a name in the parent, or reverses that; returns 0 or errno.
  int rename_to(const std::string& name, Rename how) const noexcept;
  int take_back(const std::string& name, Rename how) const noexcept;

  // Whether the content is this folder or file.
  bool holds(int other) const noexcept;

  // Moves something next to the content, to be removed with it, or back; returns 0 or errno.
  int put_away(int folder, const char* name, std::size_t number) const noexcept;
  int bring_back(int folder, const char* name, std::size_t number) const noexcept;

 private:
  enum class Claim { made, again, busy, taken };
  Claim claim(const std::string& name, bool own_name);
  void make_content(Kind kind, const std::string& target);
  void remove() noexcept;

  Origin origin_;
  Descriptor parent_;
  std::string parent_path_;
  std::string name_;    // empty: nothing to remove
  std::string path_;    // of the content
  FolderLock wrapper_;  // held while the content is being built
  FolderLock lock_;
  Descriptor file_;
};

}  // namespace td::files
