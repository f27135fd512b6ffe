// core/hdf5/hdf5.h: HDF5 files: groups are dictionaries, datasets are tensors or non-tensor data. Built
// without the HDF5 library, each function throws Code::unsupported.
#pragma once

#include "core/consolidated/file_bytes.h"
#include "core/formats/plain.h"
#include "core/tree/tensordict.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace td::hdf5 {

struct Options {
  std::string group = "/";      // the group to read
  bool attributes = false;      // reads attributes of groups as non-tensor data
  bool skip = false;            // skips what dictionaries cannot hold, instead of refusing it
  bool stack = false;           // the groups in `group` are elements of a lazy stack
  bool bits = false;            // uint64 becomes int64 with the same bits where libtorch lacks it
  std::int64_t batch_dims = 0;  // 0: as many as all tensors share
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;
  std::uint64_t max_bytes = 0;  // limit for a read; 0: what deflate could pack into the file
  std::vector<std::vector<std::string>> keys;  // what to read; empty: everything
};

struct SaveOptions {
  bool stack = false;           // writes the elements of a lazy stack as groups
  bool durable = false;         // waits until it is on disk
  std::int64_t deflate = 0;     // level, 1 to 9; 0: no compression
  std::int64_t chunk_rows = 0;  // rows of a chunk; 0: contiguous, or chunks of about a megabyte
  bool marks = true;            // marks what Python's to_h5() marks; without, bytes are lists
  std::string group = "/";      // where to put the dictionary in the file
  Plain attributes = {};        // an object, as of Reader::attributes(); null: none
};

inline constexpr std::int64_t usual_deflate = 4;  // h5py's default

// An open file, for partial reads. Thread-safe: calls are serialized.
class Reader {
 public:
  static std::unique_ptr<Reader> open(const std::string& path, const Options& options);
  // Reads from memory, which is copied.
  static std::unique_ptr<Reader> open(const FileBytes& file, const Options& options);

  virtual ~Reader() = default;

  virtual Sizes batch_size() const = 0;  // -1 where elements of a stack differ
  virtual KeyList keys() const = 0;      // of the leaves
  // The attributes of what is read: {"/data": {"total": 3}}.
  virtual Plain attributes() const = 0;
  // Reads only the rows picked by the first item; applies further items to these.
  virtual TensorDict read(c10::ArrayRef<IndexItem> items) const = 0;
};

inline TensorDict load(const std::string& path, const Options& options) {
  return Reader::open(path, options)->read({});
}

// Whether a value becomes one array: rectangular lists of texts, of files, or of numbers of one kind. Others are one text of
// JSON, without rows.
bool is_array(const Plain& value);

// Writes a file aside, then renames it; laid out like Python's to_h5().
void save(const TensorDict& td, const std::string& path, const SaveOptions& options);

}  // namespace td::hdf5
