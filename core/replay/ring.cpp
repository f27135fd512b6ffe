#include "core/replay/ring.h"

#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/foreign.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace td {

RingCounts RingCounts::after(std::int64_t rows) const noexcept {
  RingCounts result = *this;
  // The cursor may be elsewhere than behind the rows, if others were written at given places.
  result.length = cursor + rows >= capacity ? capacity : std::max(length, cursor + rows);
  result.cursor = (cursor + rows % capacity) % capacity;
  result.written += rows;
  result.gap = 0;
  return result;
}

bool RingCounts::operator==(const RingCounts& other) const noexcept {
  return capacity == other.capacity && length == other.length && cursor == other.cursor &&
         written == other.written && gap == other.gap;
}

void RingCounts::check(const std::string& where) const {
  const auto refuse = [&](const auto&... what) {
    fail(Code::format, where, " says that ", what...);
  };
  if (capacity < 1) refuse("there are ", capacity, " places for rows");
  if (length < 0 || length > capacity) refuse(length, " of ", capacity, " places hold rows");
  if (cursor < 0 || cursor >= capacity)
    refuse("the next row goes to place ", cursor, " of ", capacity);
  if (written < 0) refuse(written, " rows were ever written");
  if (gap < 0 || gap > capacity) refuse(gap, " of ", capacity, " rows are being written");
}

namespace {

std::vector<std::string_view> views_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

// Counts the tensors; `dense` says whether all dictionaries are dense.
std::size_t count_leaves(const TensorDict& td, bool& dense) {
  std::size_t leaves = 0;
  dense = is_plain(*td.node());
  visit_values(*td.node(), [&](const Value& value) { leaves += value.is_node() ? 0 : 1; });
  return leaves;
}

[[noreturn]] void fail_opaque(const TensorDict& td) {
  std::string found = "a value that is no tensor";
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (value.is_node() && !is_branch(value)) found = show_path(path);
  });
  fail(Code::unsupported, found, " is no tensor: a replay buffer holds rows of tensors");
}

bool is_index_name(const std::vector<std::string>& path) noexcept {
  return path.size() == 1 && path[0] == "index";
}

// A copy with dense dictionaries, which rows need.
TensorDict dense_rows(const TensorDict& td) {
  bool dense = false;
  count_leaves(td, dense);
  if (dense) return td;
  TensorDict result = td.contiguous();
  count_leaves(result, dense);
  if (!dense) fail_opaque(result);
  return result;
}

// Zeros whose memory is allocated on first write: a ring may have far more places than rows.
at::Tensor zeros(SizesView sizes, c10::ScalarType dtype) {
  constexpr std::size_t alignment = 64;
  const std::optional<std::int64_t> bytes = checked_bytes(sizes, c10::elementSize(dtype));
  void* memory = bytes ? std::calloc(static_cast<std::size_t>(*bytes) + alignment, 1) : nullptr;
  if (memory == nullptr)
    fail(Code::out_of_memory, "no memory for ", sizes[0], " rows: shape ", show_sizes(sizes));
  const std::size_t off = alignment - reinterpret_cast<std::uintptr_t>(memory) % alignment;
  return fast::over_memory(
      {static_cast<char*>(memory) + off, memory, std::free, c10::DeviceType::CPU},
      static_cast<std::size_t>(*bytes), dtype, sizes);
}

}  // namespace

TensorDict RingRows::shape_like(const TensorDict& rows, std::int64_t capacity) {
  const TensorDict dense = dense_rows(rows);
  bool is_dense = false;
  if (count_leaves(dense, is_dense) == 0)
    fail(Code::invalid_argument, "the rows have no entries: there is nothing to hold");
  Sizes sizes = Sizes(dense.batch_size().begin(), dense.batch_size().end());
  if (sizes[0] == 0) fail(Code::shape, "no rows were given: nothing says what they look like");
  sizes[0] = capacity;
  const IndexItem first[] = {IndexItem::at(0)};
  TensorDict one = dense.index(first).clone().unsqueeze(0);
  one.clear_device();
  return one.to(at::kCPU).expand(sizes);
}

TensorDict RingRows::like(const TensorDict& rows, std::int64_t capacity) {
  const RowSource source(shape_like(rows, capacity), /*flat=*/false);
  std::vector<at::Tensor> one, all;
  source.make_batch({1}, one);
  for (const at::Tensor& leaf : one) {
    Sizes sizes(leaf.sizes().begin(), leaf.sizes().end());
    sizes[0] = capacity;
    all.push_back(zeros(sizes, leaf.scalar_type()));
  }
  return TensorDict(source.make_batch({capacity}, all));
}

RingRows::RingRows(TensorDict td, std::int64_t places_of_row)
    : td_(std::move(td)), places_of_row_(places_of_row) {
  source_ = std::make_shared<RowSource>(td_, /*flat=*/false);
  visit_paths(*td_.node(), [&](Path path, const Value& value) {
    if (value.is_node()) {
      if (!is_branch(value) && not_writable_.empty())
        not_writable_ = show_path(path) + " is no tensor: rows of it cannot be written";
      return;
    }
    const at::Tensor& leaf = value.tensor();
    if (!fast::plain_cpu(leaf) || !leaf.is_contiguous())
      not_writable_ = show_path(path) + " does not lie densely in memory of the CPU";
    Field field;
    field.path.assign(path.begin(), path.end());
    field.leaf = leaf;
    field.row_bytes = static_cast<std::size_t>(leaf.element_size());
    for (const std::int64_t size : leaf.sizes().slice(1))
      field.row_bytes *= static_cast<std::size_t>(size);
    field.is_index = is_index_name(field.path) && leaf.scalar_type() == at::kLong &&
                     td_.is_dense() && leaf.numel() == count_elements(td_.batch_size());
    fields_.push_back(std::move(field));
  });
  const bool empty = std::all_of(fields_.begin(), fields_.end(),
                                 [](const Field& field) { return field.row_bytes == 0; });
  if (empty) fail(Code::shape, "the rows have no values: there is nothing to hold");
  if (!td_.is_dense()) not_writable_ = "the stored dictionary is a stack: it can be read only";
}

at::Tensor RingRows::matched(const Field& field, const TensorDict& td, bool single,
                             std::int64_t& count) const {
  const std::vector<std::string_view> path = views_of(field.path);
  const at::Tensor* stored = td.stored(path);
  const at::Tensor leaf = stored != nullptr ? *stored : td.get(path);
  if (leaf.scalar_type() != field.leaf.scalar_type()) {
    fail(Code::dtype, show_path(path), " is ", dtype_name(leaf.scalar_type()),
         "; the buffer holds ", dtype_name(field.leaf.scalar_type()));
  }
  const SizesView row = field.leaf.sizes().slice(1);
  const SizesView sizes = leaf.sizes();
  const bool fits = single ? sizes == row : !sizes.empty() && sizes.slice(1) == row;
  if (!fits) {
    fail(Code::shape, show_path(path), " has shape ", show_sizes(sizes),
         "; a row of the buffer has ", show_sizes(row),
         single ? "" : ", and rows are counted in front");
  }
  if (!single) count = sizes[0];
  at::Tensor result = plain_values(leaf);
  // The rows are the ring's own memory: copy them, since writing one place could change another.
  if (result.storage().data() == field.leaf.storage().data()) result = result.clone();
  return result;
}

NewRows RingRows::match(const TensorDict& td, bool single) const {
  if (!not_writable_.empty()) fail(Code::unsupported, not_writable_);
  if (!single && td.batch_size().empty())
    fail(Code::shape, "rows are counted along the first batch dimension; the batch size is []");
  const TensorDict given = dense_rows(td);
  NewRows rows;
  rows.count = single ? 1 : given.batch_size()[0];
  std::size_t taken = 0;
  for (const Field& field : fields_) {
    const std::vector<std::string_view> path = views_of(field.path);
    if (field.is_index) {
      rows.leaves.emplace_back();
      taken += given.stored(path) != nullptr ? 1 : 0;
      continue;
    }
    std::int64_t count = rows.count;
    rows.leaves.push_back(matched(field, given, single, count));
    ++taken;
    if (count != rows.count) {
      fail(Code::shape, show_path(path), " has ", count, " rows; the batch size says ", rows.count);
    }
  }
  bool dense = false;
  if (count_leaves(given, dense) != taken) {
    visit_paths(*given.node(), [&](Path path, const Value& value) {
      if (!value.is_node() && td_.stored(path) == nullptr)
        fail(Code::wrong_entry, show_path(path), " is no entry of the rows that the buffer holds");
    });
  }
  return rows;
}

void RingRows::write(const NewRows& rows, std::int64_t first, std::int64_t count,
                     std::int64_t place) const noexcept {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    const std::int64_t capacity = field.leaf.size(0);
    char* base = static_cast<char*>(field.leaf.data_ptr());
    if (field.row_bytes == 0) continue;
    if (field.is_index) {
      const auto each = static_cast<std::int64_t>(field.row_bytes / sizeof(std::int64_t));
      auto* rows_at = reinterpret_cast<std::int64_t*>(base);
      for (std::int64_t k = 0, at = place; k < count; ++k, at = at + 1 == capacity ? 0 : at + 1)
        std::fill_n(rows_at + at * each, each, at / places_of_row_);
      continue;
    }
    const char* from = static_cast<const char*>(rows.leaves[i].data_ptr()) +
                       static_cast<std::size_t>(first) * field.row_bytes;
    const std::int64_t until_end = std::min(count, capacity - place);
    const std::size_t bytes = static_cast<std::size_t>(until_end) * field.row_bytes;
    std::memcpy(base + static_cast<std::size_t>(place) * field.row_bytes, from, bytes);
    std::memcpy(base, from + bytes, static_cast<std::size_t>(count - until_end) * field.row_bytes);
  }
}

}  // namespace td
