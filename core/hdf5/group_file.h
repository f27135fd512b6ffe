// core/hdf5/group_file.h: an open HDF5 file whose groups are looked at, and whose datasets are read by rows, one at a
// time. Nothing is looked at before it is asked for: a file may have 100,000 groups.
#pragma once

#include "core/hdf5/hdf5.h"

#include <c10/core/ScalarType.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td::hdf5 {

// A dataset, or a field of its records.
struct Leaf {
  enum Holds : std::uint8_t { tensor, text, bytes };

  std::vector<std::string> path;  // below the group that was asked for
  std::string place;              // of the dataset in the file
  std::vector<std::string> fields;
  Holds holds = tensor;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  Sizes sizes;
  bool cut = false;  // has fewer rows than it was meant to have

  std::int64_t rows() const noexcept { return sizes.empty() ? -1 : sizes[0]; }  // -1: a scalar
};

// Values of a leaf: a tensor, or a list with an item for each row (a scalar: the value).
struct LeafValues {
  at::Tensor tensor;
  Plain plain;
};

// Thread-safe: calls are serialized. `max_bytes` limits one reading, as in Options.
class GroupFile {
 public:
  // With `mended`, a file that was cut off, or whose writer was killed, opens, too; the function gets what was wrong with it, and whether
  // something is lost. Of what was cut off, leaves() gives the rows before the first one that is not there.
  using MendedFn = std::function<void(const std::string& text, bool lost)>;
  static std::unique_ptr<GroupFile> open(const std::string& path, std::uint64_t max_bytes,
                                         std::uint32_t max_entries, const MendedFn& mended = {});
  virtual ~GroupFile() = default;

  virtual const std::string& where() const noexcept = 0;  // quoted, for messages
  // The names in a group, in natural order: "demo_2" before "demo_10". Code::key_not_found without such a group.
  virtual std::vector<std::string> names(const std::string& group) const = 0;
  virtual bool is_group(const std::string& place) const = 0;
  // The datasets in a group, at all levels; of a dataset itself one leaf with an empty path. Code::unsupported for
  // what cannot be read.
  virtual std::vector<Leaf> leaves(const std::string& group) const = 0;
  // An object; empty without attributes, and without such a place.
  virtual Plain attributes(const std::string& place) const = 0;
  // One of them; none if there is no such place, or attribute.
  virtual std::optional<Plain> attribute(const std::string& place, const char* name) const = 0;
  // The attribute of each of these groups in one, by the shortest way: unknown_count where it is no single integer from 0
  // on, no_group where the name is not a group's.
  static constexpr std::int64_t unknown_count = -1, no_group = -2;
  virtual std::vector<std::int64_t> counts(const std::string& group,
                                           const std::vector<std::string>& names,
                                           const char* attribute) const = 0;
  // Rows [start, start + count), which it has.
  virtual LeafValues read(const Leaf& leaf, std::int64_t start, std::int64_t count) const = 0;
  virtual LeafValues read(const Leaf& leaf) const = 0;
};

}  // namespace td::hdf5
