// core/interop/hdf5.h: HDF5 files: groups are dictionaries, datasets are tensors or non-tensor data. Nothing here
// needs the HDF5 library; without it each function throws Code::unsupported.
#pragma once

#include "core/consolidated/file_bytes.h"
#include "core/tree/tensordict.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace td::hdf5 {

struct Options {
  std::string group = "/";      // what is read
  bool attributes = false;      // those of groups become non-tensor data
  bool skip = false;            // what has no place in a dictionary is left out, not refused
  bool stack = false;           // the groups in `group` are the elements of a lazy stack
  std::int64_t batch_dims = 0;  // 0: as many as all tensors have in common
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;
  std::uint64_t max_bytes = 0;  // of one reading; 0: what deflate could have packed into the file
  std::vector<std::vector<std::string>> keys;  // what is read; none: all
};

struct SaveOptions {
  bool stack = false;           // the elements of a lazy stack become groups of their own
  bool durable = false;         // waits until it is on the disk
  std::int64_t deflate = 0;     // level, 1 to 9; 0: not compressed
  std::int64_t chunk_rows = 0;  // rows of a chunk; 0: one piece, or chunks of about a megabyte
  std::string group = "/";      // where the dictionary lies in the file
};

inline constexpr std::int64_t usual_deflate = 4;  // as h5py has it

inline constexpr std::string_view magic{"\x89HDF\r\n\x1a\n", 8};

// An open file, of which parts are read. Calls of several threads take turns.
class Reader {
 public:
  static std::unique_ptr<Reader> open(const std::string& path, const Options& options);
  // The file is in memory, and is copied.
  static std::unique_ptr<Reader> open(const FileBytes& file, const Options& options);

  virtual ~Reader() = default;

  virtual Sizes batch_size() const = 0;  // -1 where the elements of a stack differ
  virtual KeyList keys() const = 0;      // of the leaves
  // The rows that the first item picks are read, and nothing else; further items pick from these.
  virtual TensorDict read(c10::ArrayRef<IndexItem> items) const = 0;
};

inline TensorDict load(const std::string& path, const Options& options) {
  return Reader::open(path, options)->read({});
}

// Writes a file beside its place and renames it, as Python's to_h5() lays it out.
void save(const TensorDict& td, const std::string& path, const SaveOptions& options);

}  // namespace td::hdf5
