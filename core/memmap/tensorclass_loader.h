// core/memmap/tensorclass_loader.h: reads what a tensorclass stores around its dictionary: the name of the
// class and non-tensor fields.
#pragma once

#include "core/memmap/memmap_reader.h"
#include "core/tree/tensorclass.h"

#include <string>
#include <vector>

namespace td {

class TensorclassLoader {
 public:
  explicit TensorclassLoader(MemmapReader& reader) : reader_(reader) {}

  // Turns a dictionary with all its entries into a tensorclass: its readable fields become entries.
  void finish(const NodePtr& node, const Opened& opened);

  // Warns about fields that could not be read.
  void warn() const;

 private:
  PickledPtr read_pickled(const NodePtr& node, const Opened& opened);
  void note(const std::string& path, const PickledFields& pickled);

  MemmapReader& reader_;
  std::size_t kept_bytes_ = 0;
  std::size_t unread_files_ = 0;
  std::string first_;  // the warning for the first one
};

}  // namespace td
