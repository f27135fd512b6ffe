// tests/core/dataset_files.h: where the data sets of the tests are.
#pragma once

#include <string>

namespace td {

inline std::string path_of(const std::string& name) {
  return std::string(TD_TEST_DATA) + "/datasets/" + name;
}

}  // namespace td
