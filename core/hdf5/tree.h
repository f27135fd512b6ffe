// core/hdf5/tree.h: the content of an HDF5 group, without its values.
#pragma once

#include "core/formats/plain.h"
#include "core/hdf5/types.h"

#include <optional>
#include <string>
#include <vector>

namespace td::hdf5 {

struct Entry {
  std::string name;
  std::size_t parent = 0;           // index of the dictionary around it; 0 for the root
  Holds holds = Holds::fields;      // fields: a dictionary
  std::string place;                // path of the dataset or group in the file
  std::vector<std::string> fields;  // path of a field within the dataset's records
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  Sizes sizes;                 // of the whole; for a dictionary the batch size
  std::optional<Plain> value;  // of an attribute, which is read at once
  bool marked = false;  // by Python: a value for each element of the batch, also if it is a number

  // Whether its values are of this type; marked numbers are no tensor.
  bool is_of(const TypePlan& plan) const noexcept {
    return dtype == plan.dtype && (holds == plan.holds || (marked && holds == Holds::number &&
                                                           plan.holds == Holds::tensor));
  }
  bool is_dict() const noexcept { return holds == Holds::fields; }
  bool is_attribute() const noexcept { return value.has_value(); }
};

// Dictionaries come before their content.
using Tree = std::vector<Entry>;

// The bytes that a read may still use.
class Budget {
 public:
  Budget(std::uint64_t bytes, std::uint64_t file_bytes, const std::string& where)
      : left_(bytes), all_(bytes), file_bytes_(file_bytes), where_(where) {}
  // Throws Code::format if they are exceeded.
  void take(SizesView sizes, std::size_t item, const std::string& what);
  std::uint64_t left() const noexcept { return left_; }
  std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::uint64_t left_, all_, file_bytes_;
  const std::string& where_;
};

// Call in a Session. `entries` counts those of all trees of a file.
Tree scan(hid_t file, const std::string& group, const std::string& where, const Options& options,
          std::size_t& entries, Budget& budget);

// The names of the groups in a group, in natural order: "demo_2" before "demo_10".
std::vector<std::string> groups_in(hid_t file, const std::string& group, const std::string& where,
                                   const Options& options);

// Sets each dictionary's batch size to the leading dimensions shared by its content, at most `dims` (0: any
// number), as Python's from_h5() does.
void find_batch_sizes(Tree& tree, std::int64_t dims, const std::string& where);

// The path to a field, one name per line; empty for none.
TypePlan plan_field(hid_t type, const std::vector<std::string>& fields, const std::string& where);

// Where values are read from.
struct Source {
  hid_t object;
  bool is_attribute = false;
  hid_t memory_space = H5S_ALL, file_space = H5S_ALL;  // of a dataset
};
// Non-tensor values: lists nested by `sizes`, or a bare value without dimensions.
Plain read_plain(const Source& source, const TypePlan& plan, SizesView sizes,
                 const std::string& where, const std::string& what, Budget& budget);

void read_raw(const Source& source, hid_t memory_type, void* into, const std::string& where,
              hid_t transfer = H5P_DEFAULT);

// Normalises "data" or "data/" to "/data".
std::string group_path(const std::string& group);
std::string below(const std::string& group, const std::string& name);

// The value of a text that is marked as JSON.
Plain marked_json(const Plain& text, const std::string& where);

// Attribute that marks a dataset's text as JSON.
inline constexpr const char* json_mark = "tensordict_json";
// Attributes of Python: of a single text, and of the values of a batch, with its shape.
inline constexpr const char* text_mark = "__tensordict_str__";
inline constexpr const char* stack_mark = "__tensordict_stack__";

}  // namespace td::hdf5
