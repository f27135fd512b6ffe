// core/io/file_io.h: files and folders, with errors that name them. Nothing here knows of tensors.
#pragma once

#include "core/base/error.h"
#include "core/io/fork.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct stat;

namespace td::files {

// cannot open "/data/a.memmap": Permission denied
[[noreturn]] void fail_io(const char* what, const std::string& path, int error);

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }
  void reset() noexcept;
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

// The path from the root of the file system; "." and doubled slashes are taken out, links are kept.
std::string absolute(const std::string& path);

std::string join(const std::string& folder, std::string_view name);

inline bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// What stands under a path. A link is not followed.
enum class Found { nothing, file, folder, link, other };
struct Look {
  Found found = Found::nothing;
  std::uint64_t bytes = 0;
  unsigned mode = 0;  // permissions
  unsigned owner = 0;
  unsigned group = 0;
};
Look look(const std::string& path);
Look look_of(const struct stat& info) noexcept;

// Gives an open file the permissions of the file that it replaces, and its owner where the system allows
// that. Nothing where none was there.
void keep_manner(int file, const Look& old, const std::string& path);

// The content of a file that is no link; nothing longer than `limit` bytes is read (Code::format).
std::string read(const std::string& path, std::size_t limit);
std::string read(Descriptor file, std::size_t limit,
                 const std::string& path);  // not open: errno says why

// Waits until a file is on the disk, or the names in a folder. Where folders cannot be synced nothing
// is waited for.
void sync(const std::string& path);
void sync(int file, const std::string& path);  // of an open one

// Gives a file so many bytes.
void resize(int file, std::uint64_t bytes, const std::string& path);

// The folder that a path lies in; "/" for the root.
std::string parent_of(const std::string& path);

// All the bytes, to an open file. `path` is for the message.
void write_all(int file, const char* data, std::size_t bytes, const std::string& path);
void write_all_at(int file, const char* data, std::size_t bytes, std::uint64_t offset,
                  const std::string& path);

// Bytes that may still be written to the disk of a folder; nullopt where the system does not say.
std::optional<std::uint64_t> free_bytes(const std::string& path);

// Names of the folders inside a folder, sorted; links to folders do not count. Stops with
// Code::format at more than `limit`.
std::vector<std::string> folders_in(const std::string& path, std::size_t limit);

// Folders made for a purpose: those that were not there go again unless keep() is called.
class NewFolders {
 public:
  NewFolders() = default;
  ~NewFolders();
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;

  void make(const std::string& path);               // its parent exists; no link may stand there
  void make_with_parents(const std::string& path);  // absolute; links on the way are followed
  void keep() noexcept { made_.clear(); }
  void sync() const;  // waits until their names are on the disk

 private:
  Origin origin_;
  std::vector<std::string> made_;
};

}  // namespace td::files
