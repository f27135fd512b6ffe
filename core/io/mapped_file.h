// core/io/mapped_file.h: a file, or anonymous memory, mapped into the process.
#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace td {

enum class MapMode {
  shared,  // writes reach the file
  priv,    // writes stay in this process; needs no write permission
};

// One mapping. When mappings are scarce (Mappings::crowded()), a private mapping of up to 1 MiB is read into
// memory instead.
class MappedFile {
 public:
  // Maps the first `bytes` bytes of a file; `whole`: all of it. Throws Code::io if it cannot be opened or is
  // a symbolic link, Code::format if it is shorter. Never extends a file.
  static constexpr std::size_t whole = static_cast<std::size_t>(-1);
  static std::shared_ptr<MappedFile> open(const std::string& path, std::size_t bytes, MapMode mode);

  // Maps a file in an open folder; nullptr if it does not exist. `path` is its absolute name from now on.
  static std::shared_ptr<MappedFile> open_in(int folder, const char* name, std::string path,
                                             std::size_t bytes, MapMode mode);

  // Maps an open file, which may be closed afterwards. MapMode::shared needs it open for reading and writing.
  static std::shared_ptr<MappedFile> of_open(int file, std::string path, std::size_t bytes,
                                             MapMode mode);

  // Anonymous memory, shared with child processes.
  static std::shared_ptr<MappedFile> anonymous(std::size_t bytes);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  char* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  const std::string& path() const noexcept {
    return path_;
  }  // absolute; empty for anonymous memory
  bool writes_through() const noexcept { return mode_ == MapMode::shared && !path_.empty(); }

  // Whether `path` names the mapped file itself: it may have been replaced, or have two names.
  bool is_file(const std::string& path) const noexcept;

  // Records a rename of the file.
  void set_path(std::string path) noexcept { path_ = std::move(path); }

  // Waits until all writes are on disk.
  void flush() const;

 private:
  MappedFile() = default;
  void unmap() noexcept;

  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };

  char* data_ = nullptr;
  std::unique_ptr<char, Free> read_;  // used instead of a mapping
  std::size_t bytes_ = 0;
  std::string path_;
  std::uint64_t device_ = 0;  // device and inode identify the file
  std::uint64_t inode_ = 0;
  MapMode mode_ = MapMode::priv;
};

}  // namespace td
