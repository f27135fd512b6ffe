// core/io/unfinished.h: work that has not taken its place, and how it is told from what somebody has stored.
//
// Something new is made in `.NAME.%tmp/%tmp`, beside the `NAME` that it will take; NAME is empty for what is
// made inside a folder. A file that is only written anew inside of a dictionary is `.%tmp-PROCESS-NUMBER`.
// No key has such a file: escape() writes "%t" nowhere, a file of values ends with ".memmap", and the folder
// of a nested dictionary has a meta.json. See docs/design/disk.md.
#pragma once

#include "core/io/folder_lock.h"

#include <string>
#include <string_view>

namespace td::files {

inline constexpr std::string_view unfinished = "%tmp";

// What is made for a target of this name lies in a folder of this name.
std::string name_aside(std::string_view name);

// The name of a file that is written anew in a dictionary, `number` being another one each time.
std::string name_of_new_file(unsigned number);

// Whether something in an open folder is unfinished. A folder is by what is in it, not by its name.
bool is_unfinished(int folder, const Item& item);

// Throws Code::io for a path where the work of others would be taken for unfinished.
void check_target(const std::string& path);

// What is unfinished in `folder` under a name, or under a name of files that are written anew, and of which
// no process says that it works on it, goes.
void remove_left_aside(int folder, const std::string& name) noexcept;
void remove_left_files(int folder, const std::string& path);

// A file, or a folder, that is being made.
class Aside {
 public:
  enum class Kind { file, folder };

  // In a folder that is open. Throws Code::busy, naming the target, when somebody makes the same folder;
  // of files several may be in the making.
  Aside(Descriptor parent, const std::string& parent_path, const std::string& name, Kind kind,
        const std::string& target);
  ~Aside() { remove(); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  const std::string& path() const noexcept { return path_; }
  int parent() const noexcept { return parent_.get(); }
  int content() const noexcept;  // the folder, or the file, open for reading and writing
  FolderLock& lock() noexcept { return lock_; }  // on the folder

  // The content takes a name in the parent; errno, or 0.
  int rename_to(const std::string& name, Rename how) const noexcept;
  int take_back(const std::string& name, Rename how) const noexcept;

  // Whether what lies aside now is this folder or file.
  bool holds(int other) const noexcept;

  // Something else is put beside the content, and goes with it; errno, or 0.
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
  std::string name_;    // empty: nothing to take away
  std::string path_;    // of the content
  FolderLock wrapper_;  // says that somebody works here
  FolderLock lock_;
  Descriptor file_;
};

}  // namespace td::files
