// Arrays of NumPy in zip archives.
#include "core/arrays/numpy.h"
#include "core/base/quote.h"
#include "core/formats/format.h"
#include "core/formats/zip_file.h"
#include "core/tensor/foreign.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::numpy {

namespace {

constexpr std::string_view suffix = ".npy";

// An entry's content: in the file if stored, else decompressed.
FileBytes content(const FileBytes& file, const zip_file::Reader& zip,
                  const zip_file::Entry& entry) {
  const std::string where = file.where() + ": " + quote(entry.name);
  if (entry.method == zip_file::method_stored) {
    return file.part(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.bytes),
                     where);
  }
  file.require_copies(quote(entry.name));
  auto memory =
      std::make_shared<at::Tensor>(at::empty({static_cast<std::int64_t>(entry.bytes)}, at::kByte));
  char* data = entry.bytes == 0 ? nullptr : static_cast<char*>(memory->data_ptr());
  zip.read(entry, data);
  return FileBytes(data, static_cast<std::size_t>(entry.bytes), std::move(memory), where);
}

}  // namespace

// Names of other programs stay whole, unless the caller gives a separator.
TensorDict load_npz(const FileBytes& file, const FileOptions& given) {
  const zip_file::Reader zip(file.data(), file.size(), file.where(), given.max_entries);
  FileOptions options = given;
  if (!options.separator) options.separator = npz_separator(zip.comment());
  std::vector<FlatLeaf> leaves;
  leaves.reserve(zip.entries().size());
  for (const zip_file::Entry& entry : zip.entries()) {
    const std::string_view name = entry.name;
    if (name.size() < suffix.size() || name.substr(name.size() - suffix.size()) != suffix) {
      fail(Code::format, file.where(), ": ", quote(name), " is not a NumPy array");
    }
    std::string key(name.substr(0, name.size() - suffix.size()));
    OwnedPath path = split_name(key, options);
    leaves.push_back(
        {std::move(key), std::move(path), load_array(content(file, zip, entry), options)});
  }
  return build_tree(leaves, nullptr, options, file.where());
}

void save_npz(const TensorDict& td, const std::string& path, const FileOptions& options) {
  const std::string target = new_file_path(path);
  const FlatTree tree = flatten(td, options);
  require_tensors_only(tree, "an archive of NumPy");
  const bool joined = std::any_of(tree.leaves.begin(), tree.leaves.end(),
                                  [](const FlatLeaf& leaf) { return leaf.path.size() > 1; });
  if (joined && !tree.extras.exact.empty()) {
    fail(Code::key_invalid, show_path(path_view(tree.extras.exact[0].path)),
         " holds the separator that joins the names of nested entries: choose another separator");
  }
  std::vector<std::string> heads;
  heads.reserve(tree.leaves.size());
  for (const FlatLeaf& leaf : tree.leaves) heads.push_back(array_head(leaf.tensor, leaf.name));
  zip_file::Writer writer(target);
  if (joined) writer.set_comment(npz_comment(options.separator.value_or(".")));
  const auto form = options.deflate ? zip_file::Form::deflated : zip_file::Form::aligned;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const at::Tensor& tensor = tree.leaves[i].tensor;
    writer.begin(tree.leaves[i].name + std::string(suffix), form,
                 heads[i].size() + bytes_of(tensor));
    writer.append(heads[i].data(), heads[i].size());
    write_values(tensor, [&](const char* data, std::size_t bytes) { writer.append(data, bytes); });
    writer.end();
  }
  writer.finish(options.durable);
}

}  // namespace td::numpy
