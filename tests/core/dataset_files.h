// tests/core/dataset_files.h: the data sets of the tests.
#pragma once

#include "core/datasets/dataset.h"

#include <string>

namespace td {

inline std::string path_of(const std::string& name) {
  return std::string(TD_TEST_DATA) + "/datasets/" + name;
}

// Whether this build reads HDF5.
inline bool has_hdf5() {
  try {
    Dataset::open(path_of("d4rl/chunks.hdf5"), {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace td
