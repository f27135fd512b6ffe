// core/record/options.h: how rows get into a folder.
#pragma once

#include "core/base/sizes.h"
#include "core/formats/dtypes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace td::record {

struct Options {
  bool durable = false;    // what is published is on the disk
  bool checksums = false;  // a file of checksums is kept beside the values
  // Rows are published after as many, or as many bytes. With 0 for both: after 10 ms in the background,
  // 1,000 rows otherwise. -1 rows: by flush() and close() only.
  std::int64_t publish_rows = 0;
  std::int64_t publish_bytes = 0;
  std::int64_t buffer_bytes = 0;  // memory for rows that are not yet in a file; 0: 1 MiB, or 16 MiB
                                  // in the background
  bool background = true;    // files are written, and rows published, on a thread of the writer
  std::int64_t meta_ms = 0;  // how far meta.json files may be behind counted rows; 0: a second; -1:
                             // until flush() or close()
};

// What one row of a field is: its bytes lie one after the other, and rows follow each other in a file.
struct FieldForm {
  std::vector<std::string> path;  // of keys
  DType dtype;
  Shape row;  // sizes without the first
};

}  // namespace td::record
