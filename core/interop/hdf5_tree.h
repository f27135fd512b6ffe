// core/interop/hdf5_tree.h: what a group of an HDF5 file holds, before any values are read.
#pragma once

#include "core/interop/hdf5_types.h"

#include <string>
#include <vector>

namespace td::hdf5 {

struct Entry {
  std::string name;
  std::size_t parent = 0;           // its dictionary; that of the first entry is itself
  Holds holds = Holds::fields;      // fields: a dictionary
  std::string place;                // the path of the dataset in the file, or of the group
  std::vector<std::string> fields;  // the way to a field in the records of the dataset
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  Sizes sizes;       // of the whole; of a dictionary its batch size
  std::string json;  // of an attribute: its value, which is read at once

  bool is_dict() const noexcept { return holds == Holds::fields; }
  bool is_attribute() const noexcept { return !json.empty(); }
};

// Dictionaries stand before what is in them.
using Tree = std::vector<Entry>;

// The bytes that one reading may still take.
class Budget {
 public:
  Budget(std::uint64_t bytes, std::uint64_t file_bytes, const std::string& where)
      : left_(bytes), all_(bytes), file_bytes_(file_bytes), where_(where) {}
  // Throws Code::format when they are used up.
  void take(SizesView sizes, std::size_t item, const std::string& what);
  std::uint64_t left() const noexcept { return left_; }
  std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::uint64_t left_, all_, file_bytes_;
  const std::string& where_;
};

// Inside a Session. `entries` counts those of all trees of a file.
Tree scan(hid_t file, const std::string& group, const std::string& where, const Options& options,
          std::size_t& entries, Budget& budget);

// The names of the groups in a group; numbers in them count as numbers: "demo_2" comes before "demo_10".
std::vector<std::string> groups_in(hid_t file, const std::string& group, const std::string& where,
                                   const Options& options);

// Gives every dictionary the dimensions that all its tensors and dictionaries begin with, `dims` at most
// (0: any number), as Python's from_h5() finds them.
void find_batch_sizes(Tree& tree, std::int64_t dims, const std::string& where);

// The way to a field, one name a line; empty for none.
TypePlan plan_field(hid_t type, const std::vector<std::string>& fields, const std::string& where);

// Where values are.
struct Source {
  hid_t object;
  bool is_attribute = false;
  hid_t memory_space = H5S_ALL, file_space = H5S_ALL;  // of a dataset
};
// Values that are no tensors, as JSON: lists nested as the sizes say; the bare value for no dimensions.
std::string read_json(const Source& source, const TypePlan& plan, SizesView sizes,
                      const std::string& where, const std::string& what, Budget& budget);

void read_raw(const Source& source, hid_t memory_type, void* into, const std::string& where,
              hid_t transfer = H5P_DEFAULT);

// "/data" for "data", "data/" and so on.
std::string group_path(const std::string& group);
std::string below(const std::string& group, const std::string& name);

// The value of a text that is marked as JSON, given as JSON itself.
std::string marked_json(const std::string& json, const std::string& where);

// What marks a text as JSON, on the dataset that holds it.
inline constexpr const char* json_mark = "tensordict_json";

}  // namespace td::hdf5
