// core/arrays/raw_file.h: files of consecutive records with a layout given by the caller or the file.
#pragma once

#include "core/flat/file_options.h"

namespace td {

// Where records start, their layout, and which fields are in the other byte order.
struct Records {
  std::size_t start = 0;
  Sizes batch;
  Layout layout;
  std::vector<bool> swapped;      // for each field; empty: no field
  bool first_index_fast = false;  // the first batch dimension is contiguous, instead of the last
};

// One entry for each field: a view of the file if all its elements are aligned, else a copy. Throws
// Code::shape and Code::format if records do not fit into the file.
TensorDict read_records(const FileBytes& file, const Records& records, const FileOptions& options);

// Reads as many records of options.layout as the file holds.
TensorDict load_raw(const FileBytes& file, const FileOptions& options);

// Writes records after `head`.
void save_records(const TensorDict& td, const std::string& path, const std::string& head,
                  const Layout& layout, bool durable);
void save_raw(const TensorDict& td, const std::string& path, const FileOptions& options);

}  // namespace td
