// core/interop/raw_file.h: files of records, one after the other, of a layout that the caller or the file describes.
#pragma once

#include "core/interop/other_files.h"

namespace td {

// Records in a file: where the first one begins, how they lie, and which of their numbers have their
// bytes the other way around.
struct Records {
  std::size_t start = 0;
  Sizes batch;
  Layout layout;
  std::vector<bool> swapped;      // for each field; empty: none
  bool first_index_fast = false;  // the first dimension of the batch runs fastest, not the last
};

// One entry for each field: a view of the file where all of its elements lie at multiples of their size,
// else a tensor of its own. Throws Code::shape and Code::format for what does not fit into the file.
TensorDict read_records(const FileBytes& file, const Records& records, const FileOptions& options);

// options.layout says how the records lie; as many are read as the file holds.
TensorDict load_raw(const FileBytes& file, const FileOptions& options);

// Row by row; `head` stands before the first record.
void save_records(const TensorDict& td, const std::string& path, const std::string& head,
                  const Layout& layout, bool durable);
void save_raw(const TensorDict& td, const std::string& path, const FileOptions& options);

}  // namespace td
