// core/record/options.h: how rows are written to a folder.
#pragma once

#include "core/base/sizes.h"
#include "core/formats/dtypes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace td::record {

struct Options {
  bool durable = false;    // published rows are on disk
  bool checksums = false;  // keeps a file of checksums
  // Rows or bytes between publications. If both are 0: every 10 ms in the background, else every 1,000 rows.
  // -1 rows: only on flush() and close().
  std::int64_t publish_rows = 0;
  std::int64_t publish_bytes = 0;
  std::int64_t buffer_bytes = 0;  // for rows not yet written; 0: 1 MiB, 16 MiB in the background
  bool background = true;         // a thread writes files and publishes rows
  std::int64_t meta_ms = 0;  // delay of meta.json files; 0: a second; -1: until flush() or close()
  // A writer drops the rows behind the last one whose flags under this path are set; empty: none.
  std::vector<std::string> resume_at;
};

// The format of a field: contiguous bytes for each row.
struct FieldForm {
  std::vector<std::string> path;  // of keys
  DType dtype;
  Shape row;  // without the first size
};

}  // namespace td::record
