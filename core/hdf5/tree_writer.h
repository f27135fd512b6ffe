// core/hdf5/tree_writer.h: puts dictionaries into an open HDF5 file, laid out like Python's to_h5(). Call in a Session.
#pragma once

#include "core/flat/flat_tree.h"
#include "core/hdf5/library.h"

#include <optional>
#include <string>

namespace td::hdf5 {

// Code::key_invalid for names that HDF5 has not.
void check_names(const OwnedPath& path);

FlatTree flatten_for(const TensorDict& td);

class TreeWriter {
 public:
  TreeWriter(hid_t file, const std::string& where, const SaveOptions& options);

  // Datasets that are not there. Code::key_exists for others.
  void tree(const FlatTree& tree, const std::string& top);
  // Values are rows of datasets that grow: from row `first` on. Code::shape and Code::dtype if the rows before differ,
  // Code::unsupported for a dataset that cannot grow.
  void rows(const FlatTree& tree, std::int64_t first);
  void count(const std::string& place, std::int64_t rows);
  // Replaces those of the same names. `of_new`: a place that is not there becomes a group. Written before its datasets,
  // the attributes of a group lie together; behind them each has a place of its own, which a reader has to look up.
  void attributes(const Plain& metadata, bool of_new = false);

 private:
  // One of many has a marked name: then each further one costs the same, where a table of names is written anew with each.
  void group(const std::string& place, bool is_one_of_many = false);
  hid_t way_to(const std::string& place) const;
  bool is_there(const std::string& place) const;
  void set_chunks(hid_t made, SizesView sizes, std::size_t item) const;
  // A dataset with these values, which the caller closes by close_dataset(). `item`: bytes of a value.
  Id dataset(const std::string& place, hid_t type, const std::vector<hsize_t>& sizes,
             std::size_t item, const void* values, bool is_tensor = false);
  Id grown(const std::string& place, hid_t type, const std::vector<hsize_t>& sizes,
           std::size_t item, const void* values);
  Id space_of(const std::vector<hsize_t>& sizes, const std::string& place) const;
  void attribute(hid_t at, const char* name, hid_t type, const void* value);
  void close_dataset(Id made);
  void tensor(const std::string& place, const FlatLeaf& leaf);
  void other(const std::string& place, const FlatExtras::NonTensor& entry);
  void mark_stack(hid_t at, const std::vector<hsize_t>& sizes);
  Id text_type() const;

  hid_t file_;
  const std::string& where_;
  const SaveOptions& options_;
  Id to_ascii_, to_utf8_;              // how links are made
  std::optional<std::int64_t> first_;  // row
};

}  // namespace td::hdf5
