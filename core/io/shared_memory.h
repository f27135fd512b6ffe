// core/io/shared_memory.h: named memory shared between processes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace td {

// Memory that other processes open by name. It needs no file: the name refers to the creating process. When
// that ends, only existing mappings remain.
class SharedMemory {
 public:
  // Throws Code::io, Code::out_of_memory, and Code::unsupported on systems without memfd.
  static std::shared_ptr<SharedMemory> make(std::size_t bytes);

  // Code::invalid_argument for a malformed name, Code::io if the memory no longer exists, Code::format if it
  // was not made by this library or could be truncated.
  static std::shared_ptr<SharedMemory> open(const std::string& name);

  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  char* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }  // of the user's content
  const std::string& name() const noexcept { return name_; }

 private:
  SharedMemory() = default;

  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t mapped_ = 0;
  std::string name_;
  int file_ = -1;  // of the creator, through which others open it
};

}  // namespace td
