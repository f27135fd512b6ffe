// Appends a dictionary to a folder in one step, and removes rows.
#include "core/append/append.h"
#include "core/append/elements.h"
#include "core/append/match.h"
#include "core/io/file_io.h"
#include "core/memmap/memmap.h"
#include "core/record/new_folder.h"
#include "core/record/publisher.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/foreign.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

using files::FolderLock;
using format::NodeType;

Plain value_in(const record::Layout& folder, const record::LayoutNode& node) {
  return read_value(node.text.data, "\"" + folder.dir() + "\"");
}

// The folder's non-tensor values, one for each of its rows.
NodePtr values_there(const record::Layout& folder, const record::LayoutNode& node, SizesView like) {
  Sizes batch(like);
  batch[0] = folder.rows();
  if (node.text.type == NodeType::non_tensor_stack) {
    return non_tensor_from_json(node.text.data, batch, std::nullopt);
  }
  return c10::make_intrusive<NonTensorNode>(value_in(folder, node), batch, std::nullopt);
}

void set_values(record::Layout& folder, std::size_t at,
                const std::vector<const NonTensorNode*>& values, SizesView batch) {
  const auto n = static_cast<std::int64_t>(values.size());
  const NodePtr all = make_non_tensor(values, at::arange(n, at::kLong).view(batch), std::nullopt);
  folder.set_non_tensor(at, NodeType::non_tensor_stack,
                        json_text(non_tensor_lists(*all), show_sizes(batch)));
}

// A value shared by all rows stays shared if the added rows have the same one.
void add_values(record::Layout& folder, std::size_t at, const Node& added, std::int64_t rows) {
  const record::LayoutNode& node = folder.nodes()[at];
  if (node.text.type == NodeType::non_tensor) {
    const NonTensorNode one(value_in(folder, node), added.batch(), std::nullopt);
    if (same_non_tensor(one, added)) return;
  }
  if (node.listed == folder.rows()) {
    return folder.add_listed(at, json_text(non_tensor_lists(added), show_sizes(added.batch())),
                             rows);
  }
  const NodePtr old = values_there(folder, node, added.batch());
  std::vector<const NonTensorNode*> values = non_tensor_values(*old);
  const std::vector<const NonTensorNode*> more = non_tensor_values(added);
  values.insert(values.end(), more.begin(), more.end());
  Sizes batch(added.batch());
  batch[0] = rows;
  set_values(folder, at, values, batch);
}

void append_rows(record::Layout& folder, FolderLock& lock, const TensorDict& td,
                 const AppendOptions& options) {
  const Sources sources = match(folder, td);
  const std::int64_t added = td.batch_size()[0];
  if (added == 0) return;
  std::int64_t rows = 0;
  if (__builtin_add_overflow(folder.kept_rows(), added, &rows)) {
    fail(Code::shape, "too many rows to count");
  }
  std::vector<at::Tensor> values;
  values.reserve(sources.leaves.size());
  for (std::size_t i = 0; i < sources.leaves.size(); ++i) {
    if (sources.leaves[i].device().type() == c10::DeviceType::Meta) {
      fail(Code::device, quote(folder.leaves()[i].path.back()),
           " cannot be stored: it is on meta and has no values");
    }
    values.push_back(plain_values(sources.leaves[i]));
  }
  record::Publisher publisher(folder, lock, options.durable,
                              record::open_sums(folder, options.checksums));
  publisher.resume(folder.kept_rows());
  const std::int64_t old = folder.rows();
  for (const auto& [node, value] : sources.values) add_values(folder, node, *value, rows);
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    bytes.emplace_back(static_cast<const char*>(values[i].data_ptr()),
                       static_cast<std::size_t>(added) * folder.leaves()[i].row_bytes);
  }
  try {
    std::vector<files::Descriptor> created;
    if (old == 0) created = publisher.create(bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t row_bytes = folder.leaves()[i].row_bytes;
      if (row_bytes == 0) continue;
      const files::Descriptor file = old == 0 ? std::move(created[i]) : publisher.open(i);
      const std::string path = publisher.path(i);
      if (old != 0) {
        files::write_all_at(file.get(), bytes[i].data(), bytes[i].size(),
                            static_cast<std::uint64_t>(old) * row_bytes, path);
      }
      if (publisher.sums() != nullptr) publisher.sums()->add(i, bytes[i].data(), bytes[i].size());
      if (options.durable) record::sync_file(file.get(), path);
    }
    publisher.publish(rows);
  } catch (...) {
    if (lock.has_name(folder.dir())) publisher.trim();
    throw;
  }
  if (publisher.sums() != nullptr) publisher.sums()->keep();
}

// A folder with the first rows, in one step. Returns false if another process made one meanwhile.
bool make_of_rows(const std::string& dir, const TensorDict& td, const AppendOptions& options) {
  if (td.batch_size().empty()) {
    fail(Code::shape, "rows are needed: the dictionary has no batch dimension");
  }
  MemmapOptions how;
  how.archive = Archive::no;
  how.copy_existing = how.dense_sub_tensordicts = how.fail_if_exists = true;
  how.durable = options.durable;
  how.checksums = options.checksums;
  how.aside = options.aside;
  try {
    memmap(td, dir, how);
  } catch (const Error&) {
    if (record::holds_dictionary(dir)) return false;
    throw;
  }
  return true;
}

}  // namespace

void memmap_append(const std::string& dir, const TensorDict& td, const AppendOptions& options) {
  const std::string path = options.aside ? dir : record::named_folder(dir);
  if (!record::holds_dictionary(path)) {
    bool made = false;
    record::try_again(path, [&] {
      made = make_of_rows(path, td, options);
      return made || record::holds_dictionary(path);
    });
    if (made) return;
  }
  FolderLock lock(path);
  record::Layout folder(path, lock);
  if (folder.is_stack()) {
    append_element(folder, lock, td, options);
  } else {
    append_rows(folder, lock, td, options);
  }
}

void memmap_truncate(const std::string& dir, std::int64_t rows, const AppendOptions& options) {
  const std::string path = record::named_folder(dir);
  if (!record::holds_dictionary(path)) record::fail_no_dictionary(path);
  FolderLock lock(path);
  record::Layout folder(path, lock);
  if (!folder.is_stack()) return record::truncate(folder, lock, rows, options);
  if (rows < 0 || rows > folder.rows()) record::fail_kept(folder, rows, folder.rows());
  keep_elements(folder, lock, rows, options);
}

MemmapLength memmap_length(const std::string& dir) {
  const std::string path = record::named_folder(dir);
  if (!record::holds_dictionary(path)) record::fail_no_dictionary(path);
  return record::length_of(record::Layout::glance(path));
}

}  // namespace td
