// Writes HDF5 files, laid out like Python's to_h5().
#include "core/hdf5/tree.h"
#include "core/hdf5/tree_writer.h"
#include "core/hdf5/value_arrays.h"

#include "core/tree/lazy_node.h"

#include <optional>

namespace td::hdf5 {

namespace {

OwnedPath split_group(const std::string& group) {
  FileOptions options;
  options.separator = "/";
  return group == "/" ? OwnedPath() : split_name(std::string_view(group).substr(1), options);
}

// A file that is built in memory: the library crashes after some disk errors.
Id file_in_memory(const std::string& path, const std::string& where) {
  const Id access = need(H5Pcreate(H5P_FILE_ACCESS), Code::out_of_memory, where, "no properties");
  constexpr std::size_t step = std::size_t{1} << 20;
  need_done(H5Pset_fapl_core(access, step, 0), Code::out_of_memory, where, "no properties");
  return need(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), Code::io, where,
              "cannot write");
}

std::vector<char> bytes_of(Id file, const std::string& where) {
  need_done(H5Fflush(file, H5F_SCOPE_GLOBAL), Code::out_of_memory, where, "cannot make the file");
  const ssize_t bytes = H5Fget_file_image(file, nullptr, 0);
  if (bytes < 0) fail_library(Code::out_of_memory, where, "cannot make the file");
  std::vector<char> image(static_cast<std::size_t>(bytes));
  if (H5Fget_file_image(file, image.data(), image.size()) != bytes) {
    fail_library(Code::out_of_memory, where, "cannot make the file");
  }
  need_done(H5Fclose(file.release()), Code::out_of_memory, where, "cannot make the file");
  return image;
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

bool is_array(const Plain& value) {
  return collected<Texts>(value) || collected<Numbers>(value) || collected<Files>(value);
}

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
  files::NewFile file(target);
  const std::vector<char> image = [&] {
    const Session session;
    Id made = file_in_memory(file.path() + ".image", where);
    TreeWriter writer(made, where, options);
    for (const Part& part : parts) {
      writer.tree(part.tree, part.group);
      if (part.rows >= 0) writer.count(part.group, part.rows);
    }
    if (!options.attributes.is(Plain::null)) writer.attributes(options.attributes);
    return bytes_of(std::move(made), where);
  }();
  file.write(image.data(), image.size());
  file.commit(options.durable);
}

}  // namespace td::hdf5
