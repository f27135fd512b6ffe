// core/hdf5/growing_file.h: an HDF5 file that is written piece by piece, in constant memory, and published in steps.
#pragma once

#include "core/hdf5/hdf5.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace td::hdf5 {

// After a failure, what was not published is gone.
class GrowingFile {
 public:
  // `target`, `there` and `in_new` as in files::TwinFile; of the options those for the values of datasets.
  static std::unique_ptr<GrowingFile> open(const std::string& target, bool there, bool in_new,
                                           const SaveOptions& options);
  virtual ~GrowingFile() = default;

  virtual bool is_empty() const = 0;
  // New datasets and groups, and attributes of groups, in place of those of the same names.
  virtual void write(const TensorDict& td, const Plain& attributes) = 0;
  // Rows of datasets that grow, from row `first` on. A dataset that is new has zeros before.
  virtual void write_rows(const TensorDict& rows, std::int64_t first) = 0;
  virtual void remove(const std::string& place) = 0;  // a group or dataset
  // As files::TwinFile has it.
  virtual void publish(
      bool durable, bool goes_on, const std::function<void()>& then = [] {}) = 0;
};

}  // namespace td::hdf5
