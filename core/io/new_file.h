// core/io/new_file.h: writes a file aside, then puts it in place in one step: readers see the old content or
// the new one. Keeps the old permissions.
#pragma once

#include "core/io/unfinished.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace td::files {

std::string last_name(const std::string& path);
// The folder of a file that is written. `in_new`: the folder is itself being built.
Descriptor open_parent(const std::string& target, bool in_new);

// A file at any path. Without commit() it leaves no trace.
class NewFile {
 public:
  // `target` is absolute; `in_new` as in open_parent().
  explicit NewFile(const std::string& target, bool in_new = false);

  const std::string& path() const noexcept { return aside_.path(); }  // path while it is written
  const std::string& target() const noexcept { return target_; }

  void write(const char* data, std::size_t bytes);
  void write_at(std::uint64_t offset, const char* data, std::size_t bytes);
  void resize(std::size_t bytes);  // fills with zeros, sparse on most file systems

  // Throws Code::io, and keeps the old file then. `durable`: waits until content and name are on disk.
  void commit(bool durable = false);

 private:
  std::string target_;
  Aside aside_;
};

// Replaces a file of a dictionary in an open folder. `replaced` is set on failure, too.
enum class Replaced { no, yes };
void replace_file(int folder, const std::string& name, const std::string& path,
                  std::string_view content, bool durable, Replaced& replaced);

}  // namespace td::files
