#include "core/arrays/safetensors.h"
#include "core/arrays/safetensors_document.h"
#include "core/formats/json_text.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"

#include <algorithm>

namespace td::safetensors {

namespace {

std::size_t row_of(const FlatLeaf& leaf) {
  const std::optional<std::size_t> row = order_of(dtype_of(leaf.tensor.scalar_type()));
  if (row) return *row;
  fail(Code::dtype, show_path(path_view(leaf.path)), " cannot be stored: safetensors has no ",
       dtype_name(leaf.tensor.scalar_type()));
}

// This library's metadata and the caller's.
std::string metadata_text(const TensorDict& td, const FlatTree& tree, const FileOptions& options) {
  std::string text = "{";
  if (!options.metadata.empty()) {
    const auto refuse = [] {
      fail(Code::invalid_argument, "the metadata are not a JSON object of strings");
    };
    const Plain given = read_json(options.metadata, "the metadata", max_json_depth);
    if (!given.is(Plain::object)) refuse();
    for (std::size_t i = 0; i < given.items().size(); ++i) {
      const Plain& item = given.items()[i];
      // Those of an HDF5 file are objects.
      if (!item.is(Plain::text) && !item.is(Plain::object)) refuse();
      // Copied from the file they were read from.
      if (given.name(i) == extras_key || given.name(i) == native_key) continue;
      text += quote(given.name(i)) + ':' +
              quote(item.is(Plain::text) ? item.characters() : json_text(item)) + ',';
    }
  }
  const FlatExtras& extras = tree.extras;
  const Document document = document_of(td, options);
  const bool plain = !document.has_kinds && extras.dicts.size() == 1 &&
                     extras.dicts[0].batch.empty() && extras.data.empty() && extras.exact.empty();
  if (!plain && document.too_deep) {
    text += quote(extras_key) + ':' + quote(extras.text()) + ',';
  } else if (!plain) {
    text += quote(extras_key) + ':' + quote(document.text) + ',';
    FlatExtras native;  // Python reads these values as one list
    for (const FlatExtras::NonTensor& data : extras.data) {
      if (data.each) native.data.push_back(data);
    }
    if (!native.data.empty()) text += quote(native_key) + ':' + quote(native.text()) + ',';
  }
  if (text.size() == 1) return {};
  text.back() = '}';
  return text;
}

}  // namespace

void save(const TensorDict& td, const std::string& path, const FileOptions& options) {
  const std::string target = new_file_path(path);
  FlatTree tree = flatten(td, options);
  std::vector<std::pair<std::size_t, const FlatLeaf*>> order;
  for (const FlatLeaf& leaf : tree.leaves) {
    if (leaf.name == "__metadata__") {
      fail(Code::key_invalid, "\"__metadata__\" cannot be stored: the format reserves this name");
    }
    order.emplace_back(row_of(leaf), &leaf);
  }
  // Large elements first, so that all are aligned.
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->name < b.second->name;
  });
  std::string text = "{";
  if (const std::string metadata = metadata_text(td, tree, options); !metadata.empty()) {
    text += "\"__metadata__\":" + metadata + ',';
  }
  std::size_t at = 0;
  for (const auto& [row, leaf] : order) {
    text += quote(leaf->name) + ":{\"dtype\":\"" +
            std::string(find_dtype(dtype_of(leaf->tensor.scalar_type()))->safetensors) +
            "\",\"shape\":[";
    for (const std::int64_t size : leaf->tensor.sizes()) text += std::to_string(size) + ',';
    if (text.back() == ',') text.pop_back();
    text += "],\"data_offsets\":[" + std::to_string(at) + ',';
    at += bytes_of(leaf->tensor);
    text += std::to_string(at) + "]},";
  }
  if (text.back() == ',') text.pop_back();
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > max_header_bytes) {
    fail(Code::unsupported, "the names and values beside the tensors take ", text.size(),
         " bytes: readers take at most ", max_header_bytes);
  }
  files::NewFile file(target);
  const std::uint64_t length = text.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file.write(text.data(), text.size());
  for (const auto& [row, leaf] : order) write_values(file, leaf->tensor);
  file.commit(options.durable);
}

}  // namespace td::safetensors
