// core/io/new_file.h: files that are written beside their place and then take it, so that a reader meets the
// old content or the new one and nothing between. They keep the permissions of the old one.
#pragma once

#include "core/io/unfinished.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace td::files {

// A file wherever the caller says. Without commit() no trace is left.
class NewFile {
 public:
  // `target` is absolute. `in_new`: it lies in a folder that is being made itself.
  explicit NewFile(const std::string& target, bool in_new = false);

  const std::string& path() const noexcept { return aside_.path(); }  // where it is written
  const std::string& target() const noexcept { return target_; }

  void write(const char* data, std::size_t bytes);
  void write_at(std::uint64_t offset, const char* data, std::size_t bytes);
  void resize(std::size_t bytes);  // the content is zeros, and takes no room on most file systems

  // Throws Code::io; what was there stays then. `durable`: returns when it is on the disk, and its name.
  void commit(bool durable = false);

 private:
  std::string target_;
  Aside aside_;
};

// A file of a dictionary, in a folder that is open. `replaced` says also of a failure which one is there.
enum class Replaced { no, yes };
void replace_file(int folder, const std::string& name, const std::string& path,
                  std::string_view content, bool durable, Replaced& replaced);

}  // namespace td::files
