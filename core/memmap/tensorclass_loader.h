// core/memmap/tensorclass_loader.h: what stands around the dictionary of a tensorclass: the name of a class that only its program
// has, and fields that are no tensors.
#pragma once

#include "core/memmap/memmap_reader.h"
#include "core/tree/tensorclass.h"

#include <string>
#include <vector>

namespace td {

class TensorclassLoader {
 public:
  explicit TensorclassLoader(MemmapReader& reader) : reader_(reader) {}

  // Makes a dictionary that has all of its entries the tensorclass that it is: its other fields become entries
  // where they can be read.
  void finish(const NodePtr& node, const Opened& opened);

  // Says what could not be read, if anything.
  void warn() const;

 private:
  PickledPtr read_pickled(const NodePtr& node, const Opened& opened);
  void note(const std::string& path, const PickledFields& pickled);

  MemmapReader& reader_;
  std::size_t kept_bytes_ = 0;
  std::size_t unread_files_ = 0;
  std::string first_;  // what is said of the first one
};

}  // namespace td
