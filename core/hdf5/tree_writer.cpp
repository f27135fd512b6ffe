#include "core/hdf5/tree_writer.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/hdf5/attributes.h"
#include "core/hdf5/open_file.h"
#include "core/hdf5/tree.h"
#include "core/hdf5/value_arrays.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace td::hdf5 {

namespace {

std::string joined(const std::string& group, const OwnedPath& path) {
  std::string place = group == "/" ? "" : group;
  for (const std::string& name : path) place += "/" + name;
  return place;
}

}  // namespace

void check_names(const OwnedPath& path) {
  for (const std::string& name : path) {
    if (name.empty() || name == "." || name.find('/') != std::string::npos) {
      fail(Code::key_invalid, show_path(path_view(path)), ": HDF5 has no name ", quote(name));
    }
  }
}

FlatTree flatten_for(const TensorDict& td) {
  FileOptions options;
  options.separator = "/";
  return flatten(td, options);
}

// Parent groups are created. A name is marked as UTF-8 only if it is not ASCII, as h5py does it: of a group with a name that is
// marked, the library moves all links into the header, piece by piece, which a reader then collects.
TreeWriter::TreeWriter(hid_t file, const std::string& where, const SaveOptions& options)
    : file_(file), where_(where), options_(options) {
  for (const bool ascii : {true, false}) {
    Id way = need(H5Pcreate(H5P_LINK_CREATE), Code::out_of_memory, where_, "no properties");
    need_done(H5Pset_create_intermediate_group(way, 1), Code::out_of_memory, where_,
              "no properties");
    need_done(H5Pset_char_encoding(way, ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8),
              Code::out_of_memory, where_, "no properties");
    (ascii ? to_ascii_ : to_utf8_) = std::move(way);
  }
}

hid_t TreeWriter::way_to(const std::string& place) const {
  const bool ascii =
      std::all_of(place.begin(), place.end(), [](char c) { return (c & 0x80) == 0; });
  return ascii ? to_ascii_ : to_utf8_;
}

void TreeWriter::group(const std::string& place, bool is_one_of_many) {
  if (place.empty() || place == "/") return;
  if (is_there(place)) return;
  const hid_t way = is_one_of_many ? to_utf8_ : way_to(place);
  need(H5Gcreate2(file_, place.c_str(), way, H5P_DEFAULT, H5P_DEFAULT), Code::io, where_,
       "cannot write a group");
}

void TreeWriter::tree(const FlatTree& tree, const std::string& top) {
  group(top);
  for (const FlatExtras::Dict& dict : tree.extras.dicts) {
    check_names(dict.path);
    group(joined(top, dict.path));
  }
  for (const FlatLeaf& leaf : tree.leaves) {
    check_names(leaf.path);
    tensor(joined(top, leaf.path), leaf);
  }
  for (const FlatExtras::NonTensor& value : tree.extras.data) {
    check_names(value.path);
    other(joined(top, value.path), value);
  }
}

void TreeWriter::rows(const FlatTree& tree, std::int64_t first) {
  first_ = first;
  this->tree(tree, "/");
  first_.reset();
}

void TreeWriter::count(const std::string& place, std::int64_t rows) {
  const Id at = need(H5Gopen2(file_, place.c_str(), H5P_DEFAULT), Code::io, where_, "cannot write");
  attribute(at, "num_samples", H5T_NATIVE_INT64, &rows);
}

void TreeWriter::attributes(const Plain& metadata, bool of_new) {
  write_attributes(metadata, where_, [&](const std::string& place) {
    if (of_new) group(place, /*is_one_of_many=*/true);
    const bool there = place == "/" || is_there(place);
    return Id(there ? H5Oopen(file_, place.c_str(), H5P_DEFAULT) : -1);
  });
}

bool TreeWriter::is_there(const std::string& place) const {
  for (std::size_t end = place.find('/', 1);; end = place.find('/', end + 1)) {
    if (H5Lexists(file_, place.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

// Chunks of whole rows, by default of about a megabyte, and of 16 kB where a dataset grows: each takes the room of a chunk
// at least. The library refuses 4 GB.
void TreeWriter::set_chunks(hid_t made, SizesView sizes, std::size_t item) const {
  if ((options_.deflate == 0 && options_.chunk_rows == 0 && !first_) || sizes.empty() ||
      (!first_ && std::find(sizes.begin(), sizes.end(), 0) != sizes.end())) {
    return;
  }
  Sizes chunk(sizes.begin(), sizes.end());
  for (std::int64_t& size : chunk) size = std::max<std::int64_t>(size, 1);
  const std::int64_t row = *checked_bytes(SizesView(chunk).slice(1), item);
  const std::int64_t usual = first_ ? 1 << 14 : 1 << 20, most = std::int64_t{1} << 31;
  chunk[0] =
      options_.chunk_rows != 0 ? options_.chunk_rows : std::max<std::int64_t>(1, usual / row);
  chunk[0] = std::min(chunk[0], std::max<std::int64_t>(1, most / row));
  if (!first_) chunk[0] = std::min(chunk[0], sizes[0]);
  for (std::size_t dim = 1; dim < chunk.size(); ++dim) {
    while (*checked_bytes(chunk, item) > most && chunk[dim] > 1) chunk[dim] = (chunk[dim] + 1) / 2;
  }
  std::vector<hsize_t> wanted(chunk.begin(), chunk.end());
  need_done(H5Pset_chunk(made, static_cast<int>(wanted.size()), wanted.data()), Code::io, where_,
            "cannot set chunks");
  if (options_.deflate != 0) {
    need_done(H5Pset_deflate(made, static_cast<unsigned>(options_.deflate)), Code::unsupported,
              where_, "cannot compress");
  }
}

// Stores no times, so that equal dictionaries give equal bytes.
Id TreeWriter::dataset(const std::string& place, hid_t type, const std::vector<hsize_t>& sizes,
                       std::size_t item, const void* values, bool is_tensor) {
  if (first_ && sizes.empty())
    fail(Code::dtype, where_, ": the values of ", quote(place), " are no rows of an array");
  const bool there = is_there(place);
  if (there && first_) return grown(place, type, sizes, item, values);
  if (there) fail(Code::key_exists, where_, " has a dataset ", quote(place));
  const Id made = need(H5Pcreate(H5P_DATASET_CREATE), Code::out_of_memory, where_, "no properties");
  need_done(H5Pset_obj_track_times(made, 0), Code::out_of_memory, where_, "no properties");
  // Compressed texts would be compressed references to them.
  if (is_tensor || first_) set_chunks(made, Sizes(sizes.begin(), sizes.end()), item);
  if (first_) {
    std::vector<hsize_t> none(sizes), most(sizes);
    none[0] = 0;
    most[0] = H5S_UNLIMITED;
    const Id space = need(H5Screate_simple(static_cast<int>(none.size()), none.data(), most.data()),
                          Code::io, where_, "cannot write these sizes");
    need(H5Dcreate2(file_, place.c_str(), type, space, way_to(place), made, H5P_DEFAULT), Code::io,
         where_, "cannot write a dataset");
    return grown(place, type, sizes, item, values);
  }
  const Id space = space_of(sizes, place);
  Id result = need(H5Dcreate2(file_, place.c_str(), type, space, way_to(place), made, H5P_DEFAULT),
                   Code::io, where_, "cannot write a dataset");
  if (std::find(sizes.begin(), sizes.end(), 0) == sizes.end()) {
    need_done(H5Dwrite(result, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), Code::io, where_,
              "cannot write values");
  }
  return result;
}

Id TreeWriter::grown(const std::string& place, hid_t type, const std::vector<hsize_t>& sizes,
                     std::size_t item, const void* values) {
  Id made =
      need(H5Dopen2(file_, place.c_str(), H5P_DEFAULT), Code::io, where_, "cannot open a dataset");
  const Id before = need(H5Dget_type(made), Code::io, where_, "bad dataset");
  const bool same_type = H5Tget_class(before) == H5Tget_class(type) &&
                         (item == 0 || H5Tget_size(before) == H5Tget_size(type));
  if (!same_type) {
    fail(Code::dtype, where_, ": the rows before in ", quote(place), " are of another dtype");
  }
  std::vector<hsize_t> now(H5S_MAX_RANK);
  Id space = need(H5Dget_space(made), Code::io, where_, "bad dataset");
  const int dims = H5Sget_simple_extent_dims(space, now.data(), nullptr);
  now.resize(static_cast<std::size_t>(std::max(dims, 0)));
  if (now.size() != sizes.size() || !std::equal(now.begin() + 1, now.end(), sizes.begin() + 1)) {
    fail(Code::shape, where_, ": the rows before in ", quote(place), " have other sizes");
  }
  const auto end = static_cast<hsize_t>(*first_) + sizes[0];
  if (now[0] < end) {
    now[0] = end;
    need_done(H5Dset_extent(made, now.data()), Code::unsupported, where_,
              "a dataset was not made to grow");
    space = need(H5Dget_space(made), Code::io, where_, "bad dataset");
  }
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return made;
  const Id rows = select_rows(space, *first_, 1, static_cast<std::int64_t>(sizes[0]), where_);
  need_done(H5Dwrite(made, type, rows, space, H5P_DEFAULT, values), Code::io, where_,
            "cannot write values");
  return made;
}

Id TreeWriter::space_of(const std::vector<hsize_t>& sizes, const std::string& place) const {
  if (sizes.size() > H5S_MAX_RANK) {
    fail(Code::shape, quote(place), " has ", sizes.size(), " dimensions; HDF5 has ", H5S_MAX_RANK,
         " at most");
  }
  if (sizes.empty()) return need(H5Screate(H5S_SCALAR), Code::out_of_memory, where_, "no space");
  return need(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), Code::io,
              where_, "cannot write these sizes");
}

void TreeWriter::attribute(hid_t at, const char* name, hid_t type, const void* value) {
  const Id space = need(H5Screate(H5S_SCALAR), Code::out_of_memory, where_, "no space");
  const Id made = need(H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT), Code::io,
                       where_, "cannot write");
  need_done(H5Awrite(made, type, value), Code::io, where_, "cannot write");
}

// The library may write values only now, and reports failures only here.
void TreeWriter::close_dataset(Id made) {
  need_done(H5Dclose(made.release()), Code::io, where_, "cannot write values");
}

void TreeWriter::tensor(const std::string& place, const FlatLeaf& leaf) {
  const Id type = type_of(leaf.tensor.scalar_type(), where_);
  if (!type.is_open()) {
    fail(Code::dtype, show_path(path_view(leaf.path)), " is of ",
         dtype_name(leaf.tensor.scalar_type()), ", which HDF5 has not");
  }
  // Each element of a lazy stack is addressable, but their stack may not be.
  if (!checked_bytes(leaf.tensor.sizes(), leaf.tensor.element_size())) {
    fail(Code::shape, show_path(path_view(leaf.path)), " of shape ",
         show_sizes(leaf.tensor.sizes()), " is larger than any tensor");
  }
  const at::Tensor values = plain_values(leaf.tensor);
  const std::vector<hsize_t> sizes(values.sizes().begin(), values.sizes().end());
  close_dataset(dataset(place, type, sizes, values.element_size(), values.data_ptr(), true));
}

// As Python does: text as text, numbers as bytes tagged with their dtype. Other values are JSON text with a
// mark, which Python reads as text.
void TreeWriter::other(const std::string& place, const FlatExtras::NonTensor& entry) {
  const Plain& value = entry.value;
  if (!options_.marks) {
    if (const auto files = collected<Files>(value)) {
      const Id type =
          need(H5Tvlen_create(H5T_NATIVE_UINT8), Code::out_of_memory, where_, "no type");
      std::vector<hvl_t> data;
      for (const std::string& file : files->data)
        data.push_back({file.size(), const_cast<char*>(file.data())});
      return close_dataset(dataset(place, type, files->sizes, sizeof(hvl_t), data.data()));
    }
  }
  const auto texts_of = [&](const Texts& texts) {
    std::vector<const char*> data;
    for (const std::string& text : texts.data) data.push_back(text.c_str());
    return dataset(place, text_type(), texts.sizes, sizeof(char*), data.data());
  };
  if (const auto texts = collected<Texts>(value)) {
    Id made = texts_of(*texts);
    if (entry.each) {
      mark_stack(made, texts->sizes);
    } else if (texts->sizes.empty() && options_.marks) {
      const bool yes = true;
      attribute(made, text_mark, type_of(at::kBool, where_), &yes);
    }
    close_dataset(std::move(made));
  } else if (const auto numbers = collected<Numbers>(value)) {
    const bool stack = entry.each || !options_.marks;
    const std::size_t item = c10::elementSize(numbers->dtype);
    Id type = stack ? type_of(numbers->dtype, where_)
                    : need(H5Tcreate(H5T_OPAQUE, item), Code::out_of_memory, where_, "no type");
    if (!stack) {
      need_done(H5Tset_tag(type, tag_of(numbers->dtype).c_str()), Code::out_of_memory, where_,
                "no type");
    }
    Id made = dataset(place, type, numbers->sizes, item, numbers->data.data());
    if (stack) mark_stack(made, numbers->sizes);
    close_dataset(std::move(made));
  } else {
    Id made = texts_of({{}, {json_text(value, place)}});
    const signed char one = 1;
    if (options_.marks) attribute(made, json_mark, H5T_NATIVE_INT8, &one);
    close_dataset(std::move(made));
  }
}

void TreeWriter::mark_stack(hid_t at, const std::vector<hsize_t>& sizes) {
  if (!options_.marks) return;
  const std::vector<std::int64_t> shape(sizes.begin(), sizes.end());
  const Id space = space_of({shape.size()}, stack_mark);
  const Id made =
      need(H5Acreate2(at, stack_mark, H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT), Code::io,
           where_, "cannot write");
  need_done(H5Awrite(made, H5T_NATIVE_INT64, shape.data()), Code::io, where_, "cannot write");
}

Id TreeWriter::text_type() const {
  Id type = need(H5Tcopy(H5T_C_S1), Code::out_of_memory, where_, "no type");
  need_done(H5Tset_size(type, H5T_VARIABLE), Code::out_of_memory, where_, "no type");
  need_done(H5Tset_cset(type, H5T_CSET_UTF8), Code::out_of_memory, where_, "no type");
  return type;
}

}  // namespace td::hdf5
