// Writes HDF5 files, laid out like Python's to_h5().
#include "core/flat/flat_tree.h"
#include "core/formats/json_text.h"
#include "core/hdf5/attributes.h"
#include "core/hdf5/tree.h"
#include "core/hdf5/value_arrays.h"

#include "core/formats/format.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"
#include "core/tree/lazy_node.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace td::hdf5 {

namespace {

void check_names(const OwnedPath& path) {
  for (const std::string& name : path) {
    if (name.empty() || name == "." || name.find('/') != std::string::npos) {
      fail(Code::key_invalid, show_path(path_view(path)), ": HDF5 has no name ", quote(name));
    }
  }
}

OwnedPath split_group(const std::string& group) {
  FileOptions options;
  options.separator = "/";
  return group == "/" ? OwnedPath() : split_name(std::string_view(group).substr(1), options);
}

std::string joined(const std::string& group, const OwnedPath& path) {
  std::string place = group == "/" ? "" : group;
  for (const std::string& name : path) place += "/" + name;
  return place;
}

class FileWriter {
 public:
  FileWriter(const std::string& path, const std::string& where, const SaveOptions& options)
      : where_(where), options_(options) {
    const Id access =
        need(H5Pcreate(H5P_FILE_ACCESS), Code::out_of_memory, where_, "no properties");
    // Build the file in memory: the library crashes after some disk errors.
    constexpr std::size_t step = std::size_t{1} << 20;
    need_done(H5Pset_fapl_core(access, step, 0), Code::out_of_memory, where_, "no properties");
    file_ = need(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), Code::io, where_,
                 "cannot write");
    // Create parent groups; names are UTF-8, as h5py marks them.
    way_ = need(H5Pcreate(H5P_LINK_CREATE), Code::out_of_memory, where_, "no properties");
    need_done(H5Pset_create_intermediate_group(way_, 1), Code::out_of_memory, where_,
              "no properties");
    need_done(H5Pset_char_encoding(way_, H5T_CSET_UTF8), Code::out_of_memory, where_,
              "no properties");
  }

  void group(const std::string& place) {
    if (place.empty() || place == "/") return;
    if (H5Lexists_all(place)) return;
    need(H5Gcreate2(file_, place.c_str(), way_, H5P_DEFAULT, H5P_DEFAULT), Code::io, where_,
         "cannot write a group");
  }

  void tree(const FlatTree& tree, const std::string& top) {
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

  void count(const std::string& place, std::int64_t rows) {
    const Id at =
        need(H5Gopen2(file_, place.c_str(), H5P_DEFAULT), Code::io, where_, "cannot write");
    attribute(at, "num_samples", H5T_NATIVE_INT64, &rows);
  }

  void attributes(const Plain& metadata) {
    write_attributes(metadata, where_, [&](const std::string& place) {
      const bool there = place == "/" || H5Lexists_all(place);
      return Id(there ? H5Oopen(file_, place.c_str(), H5P_DEFAULT) : -1);
    });
  }

  // The bytes of the file.
  std::vector<char> close() {
    need_done(H5Fflush(file_, H5F_SCOPE_GLOBAL), Code::out_of_memory, where_,
              "cannot make the file");
    const ssize_t bytes = H5Fget_file_image(file_, nullptr, 0);
    if (bytes < 0) fail_library(Code::out_of_memory, where_, "cannot make the file");
    std::vector<char> image(static_cast<std::size_t>(bytes));
    if (H5Fget_file_image(file_, image.data(), image.size()) != bytes) {
      fail_library(Code::out_of_memory, where_, "cannot make the file");
    }
    need_done(H5Fclose(file_.release()), Code::out_of_memory, where_, "cannot make the file");
    return image;
  }

 private:
  bool H5Lexists_all(const std::string& place) const {
    for (std::size_t end = place.find('/', 1);; end = place.find('/', end + 1)) {
      if (H5Lexists(file_, place.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
      if (end == std::string::npos) return true;
    }
  }

  // Chunks of whole rows, by default of about a megabyte. The library refuses 4 GB.
  void set_chunks(hid_t made, SizesView sizes, std::size_t item) const {
    if ((options_.deflate == 0 && options_.chunk_rows == 0) || sizes.empty() ||
        std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
      return;
    }
    Sizes chunk(sizes.begin(), sizes.end());
    const std::int64_t row = *checked_bytes(sizes.slice(1), item);
    constexpr std::int64_t megabyte = 1 << 20, most = std::int64_t{1} << 31;
    chunk[0] =
        options_.chunk_rows != 0 ? options_.chunk_rows : std::max<std::int64_t>(1, megabyte / row);
    chunk[0] = std::min({chunk[0], sizes[0], std::max<std::int64_t>(1, most / row)});
    for (std::size_t dim = 1; dim < chunk.size(); ++dim) {
      while (*checked_bytes(chunk, item) > most && chunk[dim] > 1)
        chunk[dim] = (chunk[dim] + 1) / 2;
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
  Id dataset(const std::string& place, hid_t type, hid_t space, SizesView sizes, std::size_t item,
             bool chunks) {
    const Id made =
        need(H5Pcreate(H5P_DATASET_CREATE), Code::out_of_memory, where_, "no properties");
    need_done(H5Pset_obj_track_times(made, 0), Code::out_of_memory, where_, "no properties");
    if (chunks) set_chunks(made, sizes, item);
    return need(H5Dcreate2(file_, place.c_str(), type, space, way_, made, H5P_DEFAULT), Code::io,
                where_, "cannot write a dataset");
  }

  Id space_of(const std::vector<hsize_t>& sizes, const std::string& place) {
    if (sizes.size() > H5S_MAX_RANK) {
      fail(Code::shape, quote(place), " has ", sizes.size(), " dimensions; HDF5 has ", H5S_MAX_RANK,
           " at most");
    }
    if (sizes.empty()) return need(H5Screate(H5S_SCALAR), Code::out_of_memory, where_, "no space");
    return need(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), Code::io,
                where_, "cannot write these sizes");
  }

  void attribute(hid_t at, const char* name, hid_t type, const void* value) {
    const Id space = need(H5Screate(H5S_SCALAR), Code::out_of_memory, where_, "no space");
    const Id made = need(H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT), Code::io,
                         where_, "cannot write");
    need_done(H5Awrite(made, type, value), Code::io, where_, "cannot write");
  }

  // The library may write values only now, and reports failures only here.
  void close_dataset(Id made) {
    need_done(H5Dclose(made.release()), Code::io, where_, "cannot write values");
  }

  void tensor(const std::string& place, const FlatLeaf& leaf) {
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
    const Id space = space_of(sizes, place);
    Id made = dataset(place, type, space, values.sizes(), values.element_size(), true);
    if (values.numel() != 0) {
      need_done(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data_ptr()), Code::io,
                where_, "cannot write values");
    }
    close_dataset(std::move(made));
  }

  // As Python does: text as text, numbers as bytes tagged with their dtype. Other values are JSON text with a
  // mark, which Python reads as text.
  void other(const std::string& place, const FlatExtras::NonTensor& entry) {
    const Plain& value = entry.value;
    if (!options_.marks) {
      if (const auto files = collected<Files>(value)) return write_files(place, *files);
    }
    if (const auto texts = collected<Texts>(value)) {
      Id made = write_texts(place, *texts);
      if (entry.each) {
        mark_stack(made, texts->sizes);
      } else if (texts->sizes.empty() && options_.marks) {
        const bool yes = true;
        attribute(made, text_mark, type_of(at::kBool, where_), &yes);
      }
      close_dataset(std::move(made));
    } else if (const auto numbers = collected<Numbers>(value)) {
      const bool stack = entry.each || !options_.marks;
      stack ? write_number_stack(place, *numbers) : write_numbers(place, *numbers);
    } else {
      Id made = write_texts(place, {{}, {json_text(value, place)}});
      const signed char one = 1;
      if (options_.marks) attribute(made, json_mark, H5T_NATIVE_INT8, &one);
      close_dataset(std::move(made));
    }
  }

  void mark_stack(hid_t at, const std::vector<hsize_t>& sizes) {
    if (!options_.marks) return;
    const std::vector<std::int64_t> shape(sizes.begin(), sizes.end());
    const Id space = space_of({shape.size()}, stack_mark);
    const Id made =
        need(H5Acreate2(at, stack_mark, H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT),
             Code::io, where_, "cannot write");
    need_done(H5Awrite(made, H5T_NATIVE_INT64, shape.data()), Code::io, where_, "cannot write");
  }

  Id write_texts(const std::string& place, const Texts& texts) {
    const Id type = need(H5Tcopy(H5T_C_S1), Code::out_of_memory, where_, "no type");
    need_done(H5Tset_size(type, H5T_VARIABLE), Code::out_of_memory, where_, "no type");
    need_done(H5Tset_cset(type, H5T_CSET_UTF8), Code::out_of_memory, where_, "no type");
    const Id space = space_of(texts.sizes, place);
    Id made = dataset(place, type, space, {}, 0, false);
    std::vector<const char*> data;
    for (const std::string& text : texts.data) data.push_back(text.c_str());
    need_done(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), Code::io, where_,
              "cannot write texts");
    return made;
  }

  void write_files(const std::string& place, const Files& files) {
    const Id type = need(H5Tvlen_create(H5T_NATIVE_UINT8), Code::out_of_memory, where_, "no type");
    const Id space = space_of(files.sizes, place);
    Id made = dataset(place, type, space, {}, 0, false);
    std::vector<hvl_t> data;
    for (const std::string& file : files.data)
      data.push_back({file.size(), const_cast<char*>(file.data())});
    if (!data.empty()) {
      need_done(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), Code::io, where_,
                "cannot write bytes");
    }
    close_dataset(std::move(made));
  }

  void write_number_stack(const std::string& place, const Numbers& numbers) {
    const Id type = type_of(numbers.dtype, where_);
    const Id space = space_of(numbers.sizes, place);
    Id made = dataset(place, type, space, {}, 0, false);
    need_done(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data.data()), Code::io,
              where_, "cannot write values");
    mark_stack(made, numbers.sizes);
    close_dataset(std::move(made));
  }

  void write_numbers(const std::string& place, const Numbers& numbers) {
    const Id type = need(H5Tcreate(H5T_OPAQUE, c10::elementSize(numbers.dtype)),
                         Code::out_of_memory, where_, "no type");
    need_done(H5Tset_tag(type, tag_of(numbers.dtype).c_str()), Code::out_of_memory, where_,
              "no type");
    const Id space = space_of(numbers.sizes, place);
    Id made = dataset(place, type, space, {}, 0, false);
    need_done(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data.data()), Code::io,
              where_, "cannot write values");
    close_dataset(std::move(made));
  }

  const std::string& where_;
  const SaveOptions& options_;
  Id file_, way_;
};

FlatTree flatten_for(const TensorDict& td) {
  FileOptions options;
  options.separator = "/";
  return flatten(td, options);
}

struct Part {
  std::string group;
  FlatTree tree;
  std::int64_t rows;
};

// Checks everything before the file is created.
std::vector<Part> parts_of(const TensorDict& td, const SaveOptions& options) {
  std::vector<Part> parts;
  if (!options.stack) {
    parts.push_back({options.group, flatten_for(td), -1});
    return parts;
  }
  if (!is_lazy_stack(*td.node())) {
    fail(Code::wrong_entry, "only the elements of a lazy stack are written as groups");
  }
  if (const auto dim = stack_dim_of(*td.node()); dim != 0) {
    fail(Code::shape, "the elements are stacked along dimension ", *dim,
         "; groups are along dimension 0");
  }
  for (const NodePtr& node : stacked(*td.node())) {
    const TensorDict element(node);
    const SizesView batch = element.batch_size();
    const std::string top = options.group == "/" ? "" : options.group;
    parts.push_back({top + "/demo_" + std::to_string(parts.size()), flatten_for(element),
                     batch.empty() ? -1 : batch[0]});
  }
  return parts;
}

}  // namespace

void save(const TensorDict& td, const std::string& path, const SaveOptions& given) {
  SaveOptions options = given;
  options.group = group_path(given.group);
  check_names(split_group(options.group));
  if (options.deflate < 0 || options.deflate > 9) {
    fail(Code::invalid_argument, "deflate has levels 1 to 9, not ", options.deflate);
  }
  if (options.chunk_rows < 0) {
    fail(Code::invalid_argument, "chunks of ", options.chunk_rows, " rows");
  }
  const std::string target = new_file_path(path);
  const std::string where = "\"" + target + "\"";
  const std::vector<Part> parts = parts_of(td, options);
  files::NewFile file(target, options.in_new);
  const std::vector<char> image = [&] {
    const Session session;
    FileWriter writer(file.path() + ".image", where, options);
    for (const Part& part : parts) {
      writer.tree(part.tree, part.group);
      if (part.rows >= 0) writer.count(part.group, part.rows);
    }
    if (!options.attributes.is(Plain::null)) writer.attributes(options.attributes);
    return writer.close();
  }();
  file.write(image.data(), image.size());
  file.commit(options.durable);
}

}  // namespace td::hdf5
