// core/datasets/verify.h: what is wrong with a data set.
#pragma once

#include "core/datasets/dataset.h"

#include <functional>
#include <string>

namespace td {

struct DatasetProblem {
  std::string file;                     // below the set; empty: the set itself
  std::string text;                     // one line
  std::int64_t episode = -1, row = -1;  // -1: none
  bool is_note = false;                 // the library of the set reads it, and yet it is unusual
  bool can_be_mended = false;           // a note that is gone after a repair
};
using ProblemFn = std::function<void(const DatasetProblem&)>;

// The kind of set that is at a path by its looks, also if it is damaged; DatasetKind::detect for others, such as a folder of a
// dictionary. Code::io without such a path.
DatasetKind kind_of_dataset(const std::string& path);

// Looks at everything: files, metadata, and the values of one episode after the other. Throws for what is no fault of the
// set: Code::format for what is not a data set, Code::unsupported for what we do not read and for libraries that are missing,
// Code::out_of_memory. What was found before has been told.
void verify_dataset(const std::string& path, const ProblemFn& found);

}  // namespace td
