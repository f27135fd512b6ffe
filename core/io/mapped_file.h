// core/io/mapped_file.h: a file, or nameless memory, mapped into the process.
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
  priv,    // writes stay in this process (also used where the file cannot be written)
};

// One mapping. When the process has
// nearly as many mappings as the system allows (Mappings::crowded()), a file of up to 1 MiB that is to be
// mapped privately is read into memory instead.
class MappedFile {
 public:
  // Maps the first `bytes` bytes of an existing file. Throws Code::io when it cannot be opened or is
  // a symbolic link, and Code::format when it is shorter. Never makes a file longer. `whole` stands for
  // all bytes that it has.
  static constexpr std::size_t whole = static_cast<std::size_t>(-1);
  static std::shared_ptr<MappedFile> open(const std::string& path, std::size_t bytes, MapMode mode);

  // The same of a file in an open folder; `path` is absolute and what it is called from now on. Nothing
  // where there is none of this name.
  static std::shared_ptr<MappedFile> open_in(int folder, const char* name, std::string path,
                                             std::size_t bytes, MapMode mode);

  // The same of a file that is open, which may be closed then. With MapMode::shared it must be open for
  // reading and writing.
  static std::shared_ptr<MappedFile> of_open(int file, std::string path, std::size_t bytes,
                                             MapMode mode);

  // Memory without a name, shared with child processes.
  static std::shared_ptr<MappedFile> anonymous(std::size_t bytes);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  char* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  const std::string& path() const noexcept { return path_; }  // absolute; empty for nameless memory
  bool writes_through() const noexcept { return mode_ == MapMode::shared && !path_.empty(); }

  // Whether `path` names the very file that is mapped: another one may have taken its place, or the
  // same one may go by two names.
  bool is_file(const std::string& path) const noexcept;

  // Says that the file has been renamed.
  void set_path(std::string path) noexcept { path_ = std::move(path); }

  // Waits until what was written is on the disk.
  void flush() const;

 private:
  MappedFile() = default;
  void unmap() noexcept;

  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };

  char* data_ = nullptr;
  std::unique_ptr<char, Free> read_;  // instead of a mapping
  std::size_t bytes_ = 0;
  std::string path_;
  std::uint64_t device_ = 0;  // these two name the file itself
  std::uint64_t inode_ = 0;
  MapMode mode_ = MapMode::priv;
};

}  // namespace td
