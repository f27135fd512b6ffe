// core/hdf5/collected_writes.h: what the HDF5 library writes, collected in memory: a disk that fails never reaches the
// library, which crashes then, and the caller decides when the file changes.
#pragma once

#include "core/hdf5/library.h"
#include "core/io/twin_file.h"

namespace td::hdf5 {

class CollectedWrites {
 public:
  // `file` is read; only the changes of take() are written to it.
  CollectedWrites(int file, const std::string& where);

  // Opens it by the library; makes a new one if it has no bytes. Call in a Session; the result is closed before this object
  // goes.
  Id open();

  std::size_t bytes() const noexcept;  // that are in memory
  // Since the last time. The caller writes them before the library reads on.
  files::FileChanges take();
  void read_from(int file) noexcept { file_ = file; }
  int error() const noexcept { return error_; }  // errno of a disk that could not be read; 0: none

 private:
  friend struct CollectingDriver;
  // Zeros where the disk fails, which error() tells: the library does not close what it could not read.
  void read(std::uint64_t at, char* into, std::size_t bytes) const;
  void write(std::uint64_t at, const char* data, std::size_t bytes);
  void set_end(std::uint64_t end);

  int file_;
  std::string where_;
  std::uint64_t allocated_ = 0;
  files::FileChanges changes_;
  mutable int error_ = 0;  // of the disk
};

}  // namespace td::hdf5
