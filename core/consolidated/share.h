// core/consolidated/share.h: dictionaries in memory that other processes see too.
#pragma once

#include "core/tree/tensordict.h"

#include <cstddef>
#include <cstdint>
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

// Moves the tensors that lie on the CPU to one piece of shared memory; the dictionary is locked and
// flagged. Handles on the tensors speak of the new memory from then on; addresses taken before stay
// readable as long as such a handle lives. Code::invalid_argument when it is mapped from files,
// Code::unsupported for a sub-tensordict.
void share_memory(const TensorDict& td);

// What a CUDA dictionary always is, and others after share_memory(). Throws Code::invalid_argument for
// a lazy stack of which only some elements are.
bool is_shared(const TensorDict& td);

// What open_shared() takes in another process.
std::string shared_name(const TensorDict& td);

// Locked and flagged; its tensors are those of the other process.
TensorDict open_shared(const std::string& name);

}  // namespace td
