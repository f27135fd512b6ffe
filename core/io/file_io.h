// core/io/file_io.h: files and folders, with errors that name them.
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

// The absolute path, without "." and doubled slashes; keeps links.
std::string absolute(const std::string& path);

std::string join(const std::string& folder, std::string_view name);

inline bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// What a path names; does not follow a link.
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

// Gives an open file the permissions, and if possible the owner, of the file that it replaces.
void keep_manner(int file, const Look& old, const std::string& path);

// The content of a file, which must not be a link; Code::format above `limit` bytes.
std::string read(const std::string& path, std::size_t limit);
std::string read(Descriptor file, std::size_t limit,
                 const std::string& path);  // not open: errno has the reason

// Waits until a file's content, or a folder's names, are on disk. Does nothing for folders that cannot be
// synced.
void sync(const std::string& path);
void sync(int file, const std::string& path);  // an open file

// Sets a file's size.
void resize(int file, std::uint64_t bytes, const std::string& path);

// The parent folder of a path; "/" for the root.
std::string parent_of(const std::string& path);

// Write all bytes to an open file. `path` is for messages.
void write_all(int file, const char* data, std::size_t bytes, const std::string& path);
void write_all_at(int file, const char* data, std::size_t bytes, std::uint64_t offset,
                  const std::string& path);

// Reads exactly `bytes` bytes from an open file; Code::format if it has fewer.
void read_all_at(int file, char* data, std::size_t bytes, std::uint64_t offset,
                 const std::string& path);

// Copies all bytes of an open file to the start of another one.
void copy_all(int from, int to, const std::string& path);

// Free bytes on the disk of a folder; nullopt if unknown.
std::optional<std::uint64_t> free_bytes(const std::string& path);

// Creates folders, and removes those it created unless keep() is called.
class NewFolders {
 public:
  NewFolders() = default;
  ~NewFolders();
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;

  void make(const std::string& path);               // the parent must exist; a link is refused
  void make_with_parents(const std::string& path);  // absolute; follows links in the parents
  void keep() noexcept { made_.clear(); }
  void sync() const;  // waits until their names are on disk

 private:
  Origin origin_;
  std::vector<std::string> made_;
};

}  // namespace td::files
