// core/io/shared_memory.h: memory that other processes open by a name.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace td {

// One piece of memory that other processes can open by a name. It has no file: the name leads through
// the process that made it, and when that has ended nothing is left of it but the mappings of others.
class SharedMemory {
 public:
  // Throws Code::io, Code::out_of_memory, and Code::unsupported where the system has no such memory.
  static std::shared_ptr<SharedMemory> make(std::size_t bytes);

  // Code::invalid_argument for a text that is no name, Code::io when it leads nowhere any more,
  // Code::format when what is there is not ours or may be shortened while it is used.
  static std::shared_ptr<SharedMemory> open(const std::string& name);

  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  char* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }  // for the user's content
  const std::string& name() const noexcept { return name_; }

 private:
  SharedMemory() = default;

  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t mapped_ = 0;
  std::string name_;
  int file_ = -1;  // of the one who made it: others open it through this
};

}  // namespace td
