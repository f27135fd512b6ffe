#include "core/arrays/raw_file.h"

#include "core/formats/format.h"
#include "core/tensor/known_sizes.h"

#include <algorithm>

namespace td {

namespace {

const Layout& require_layout(const FileOptions& options) {
  if (!options.layout) {
    fail(Code::invalid_argument, "raw records need members that describe their layout");
  }
  return *options.layout;
}

void check_field(const Field& field, const Layout& layout, const std::string& where) {
  const std::optional<std::int64_t> bytes =
      checked_bytes(field.sizes, c10::elementSize(field.dtype));
  if (!bytes || field.offset > layout.item_bytes ||
      static_cast<std::size_t>(*bytes) > layout.item_bytes - field.offset) {
    fail(Code::shape, where, ": the field ", show_path(field.path), " of shape ",
         show_sizes(field.sizes), " at ", field.offset, " reaches beyond a record of ",
         layout.item_bytes, " bytes");
  }
}

}  // namespace

TensorDict read_records(const FileBytes& file, const Records& records, const FileOptions& options) {
  const Layout& layout = records.layout;
  const std::size_t item_bytes = std::max<std::size_t>(layout.item_bytes, 1);
  const std::optional<std::int64_t> bytes = checked_bytes(records.batch, item_bytes);
  const std::size_t need = bytes && layout.item_bytes != 0 ? static_cast<std::size_t>(*bytes) : 0;
  if (!bytes || records.start > file.size() || need > file.size() - records.start) {
    fail(Code::format, file.where(), ": ", show_sizes(records.batch), " records of ",
         layout.item_bytes, " bytes do not fit into ", file.size(), " bytes");
  }
  if (layout.fields.size() > options.max_entries) {
    fail(Code::format, file.where(), ": more than ", options.max_entries, " fields");
  }
  TensorDict result(records.batch);
  Sizes steps = dense_strides(records.batch, layout.item_bytes);
  if (records.first_index_fast) {
    Sizes turned(records.batch.rbegin(), records.batch.rend());
    steps = dense_strides(turned, layout.item_bytes);
    std::reverse(steps.begin(), steps.end());
  }
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    const Field& field = layout.fields[i];
    check_path(field.path);
    check_field(field, layout, file.where());
    Sizes sizes(records.batch.begin(), records.batch.end());
    sizes.append(field.sizes.begin(), field.sizes.end());
    Sizes strides(steps.begin(), steps.end());
    const Sizes inner = dense_strides(field.sizes, c10::elementSize(field.dtype));
    strides.append(inner.begin(), inner.end());
    const bool swapped = !records.swapped.empty() && records.swapped[i];
    if (result.kind_of(field.path) != EntryKind::none) {
      fail(Code::key_exists, file.where(), ": two fields are called ", show_path(field.path));
    }
    result.set(field.path, file.tensor(records.start + (need == 0 ? 0 : field.offset), sizes,
                                       strides, field.dtype, swapped, field.path.back()));
  }
  return result;
}

TensorDict load_raw(const FileBytes& file, const FileOptions& options) {
  const Layout& layout = require_layout(options);
  if (layout.item_bytes == 0) fail(Code::shape, "records of 0 bytes cannot be counted");
  if (options.batch_dims > 1) {
    fail(Code::shape, "records in a file have one batch dimension, not ", options.batch_dims);
  }
  const std::size_t head = options.header_bytes;
  if (head > file.size() || (file.size() - head) % layout.item_bytes != 0) {
    fail(Code::format, file.where(), ": ", file.size(), " bytes are not ", head,
         " and a whole number of records of ", layout.item_bytes, " bytes");
  }
  Records records;
  records.start = head;
  records.batch = {static_cast<std::int64_t>((file.size() - head) / layout.item_bytes)};
  records.layout = layout;
  return read_records(file, records, options);
}

void save_records(const TensorDict& td, const std::string& path, const std::string& head,
                  const Layout& layout, bool durable) {
  constexpr std::size_t piece = std::size_t{4} << 20;
  const std::string target = new_file_path(path);
  const SizesView batch = known_sizes(td.batch_size());
  const std::optional<std::int64_t> bytes = checked_bytes(batch, layout.item_bytes);
  if (!bytes) fail(Code::shape, "records of batch size ", show_sizes(batch), " are too many");
  files::NewFile file(target);
  file.write(head.data(), head.size());
  const std::int64_t all = batch.empty() ? 1 : batch[0];
  const std::size_t row = all == 0 ? 0 : static_cast<std::size_t>(*bytes / all);
  const std::int64_t rows = row == 0
                                ? std::max<std::int64_t>(all, 1)
                                : std::max<std::int64_t>(1, static_cast<std::int64_t>(piece / row));
  // Check fields even without records: the first piece may be empty.
  std::string buffer;
  std::int64_t first = 0;
  do {
    const std::int64_t count = std::min(rows, all - first);
    buffer.assign(static_cast<std::size_t>(count) * row, '\0');
    const TensorDict part =
        count == all ? td : td.index({IndexItem::range(first, first + count, std::nullopt)});
    to_structs(part, buffer.data(), buffer.size(), layout);
    file.write(buffer.data(), buffer.size());
    first += count;
  } while (first < all);
  file.commit(durable);
}

void save_raw(const TensorDict& td, const std::string& path, const FileOptions& options) {
  if (td.batch_size().size() != 1) {
    fail(Code::shape, "records in a file have one batch dimension, this is of ",
         show_sizes(td.batch_size()));
  }
  save_records(td, path, std::string(options.header_bytes, '\0'), require_layout(options),
               options.durable);
}

}  // namespace td
