#include "core/inspect/layout.h"

#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/strides.h"

#include <ATen/ATen.h>

#include <cstring>

namespace td {

namespace {

// Reads this many bytes of structs for all fields before the next structs, so that they stay in the cache.
constexpr std::size_t block_bytes = std::size_t{32} << 10;

std::size_t product(SizesView sizes, std::size_t of) {
  std::size_t n = of;
  for (const std::int64_t size : sizes) {
    if (size < 0) fail(Code::shape, "sizes ", show_sizes(sizes), " include a negative one");
    if (__builtin_mul_overflow(n, static_cast<std::size_t>(size), &n)) {
      fail(Code::shape, "sizes ", show_sizes(sizes), " need more bytes than can be addressed");
    }
  }
  return n;
}

std::size_t field_bytes(const Field& field) {
  return product(field.sizes, c10::elementSize(field.dtype));
}

Sizes sizes_of(SizesView batch, const Field& field) {
  Sizes sizes(batch.begin(), batch.end());
  sizes.append(field.sizes.begin(), field.sizes.end());
  return sizes;
}

void check(const void* data, std::size_t bytes, SizesView batch, const Layout& layout) {
  for (const Field& field : layout.fields) {
    check_path(field.path);
    const std::size_t size = field_bytes(field);
    if (field.offset > layout.item_bytes || size > layout.item_bytes - field.offset) {
      fail(Code::shape, "the field ", show_path(field.path), " of ", size, " bytes at ",
           field.offset, " reaches beyond a struct of ", layout.item_bytes, " bytes");
    }
  }
  const std::size_t need = product(batch, layout.item_bytes);
  if (bytes != need) {
    fail(Code::shape, "batch size ", show_sizes(batch), " of structs of ", layout.item_bytes,
         " bytes takes ", need, " bytes, not ", bytes);
  }
  if (data == nullptr && bytes != 0) fail(Code::null_argument, "data is NULL");
}

// One column: contiguous rows of `bytes` on one side, members of structs on the other.
struct RowColumn {
  char* dense;
  std::size_t offset;
  std::size_t bytes;
};

template <class Copy>
void copy_rows(std::size_t bytes, std::size_t count, Copy&& copy) {
  switch (bytes) {  // a constant length compiles to one move
    case 0: return;
    case 1: copy(std::integral_constant<std::size_t, 1>(), count); return;
    case 2: copy(std::integral_constant<std::size_t, 2>(), count); return;
    case 4: copy(std::integral_constant<std::size_t, 4>(), count); return;
    case 8: copy(std::integral_constant<std::size_t, 8>(), count); return;
    case 12: copy(std::integral_constant<std::size_t, 12>(), count); return;
    case 16: copy(std::integral_constant<std::size_t, 16>(), count); return;
    default: copy(bytes, count);
  }
}

template <bool to_columns>
void transfer(std::conditional_t<to_columns, const char*, char*> structs, std::size_t count,
              std::size_t step, c10::ArrayRef<RowColumn> columns) {
  const std::size_t block = std::max<std::size_t>(1, block_bytes / std::max<std::size_t>(step, 1));
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t rows = std::min(block, count - first);
    for (const RowColumn& column : columns) {
      auto at = structs + first * step + column.offset;
      char* dense = column.dense + first * column.bytes;
      copy_rows(column.bytes, rows, [&](auto bytes, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i, at += step, dense += bytes) {
          if constexpr (to_columns) {
            std::memcpy(dense, at, bytes);
          } else {
            std::memcpy(at, dense, bytes);
          }
        }
      });
    }
  }
}

void put_new(TensorDict& td, Path path, at::Tensor tensor) {
  if (td.kind_of(path) != EntryKind::none) {
    fail(Code::key_exists, "two fields are called ", show_path(path));
  }
  td.set(path, std::move(tensor));
}

}  // namespace

TensorDict from_structs(const void* data, std::size_t bytes, SizesView batch,
                        const Layout& layout) {
  check(data, bytes, batch, layout);
  TensorDict result(batch);
  c10::SmallVector<RowColumn, 16> columns;
  for (const Field& field : layout.fields) {
    at::Tensor tensor = at::empty(sizes_of(batch, field), field.dtype);
    columns.push_back({static_cast<char*>(tensor.data_ptr()), field.offset, field_bytes(field)});
    put_new(result, field.path, std::move(tensor));
  }
  transfer<true>(static_cast<const char*>(data), product(batch, 1), layout.item_bytes, columns);
  return result;
}

TensorDict view_structs(void* data, std::size_t bytes, SizesView batch, const Layout& layout,
                        const std::shared_ptr<void>& owner) {
  check(data, bytes, batch, layout);
  TensorDict result(batch);
  for (const Field& field : layout.fields) {
    const std::size_t item = c10::elementSize(field.dtype);
    char* first = data == nullptr ? nullptr : static_cast<char*>(data) + field.offset;
    if (layout.item_bytes % item != 0 || reinterpret_cast<std::uintptr_t>(first) % item != 0) {
      fail(Code::unsupported, "the field ", show_path(field.path), " at ", field.offset,
           " of a struct of ", layout.item_bytes, " bytes does not lie at multiples of its ", item,
           " bytes: it can be copied, not shared");
    }
    const Sizes sizes = sizes_of(batch, field);
    Sizes strides(sizes.size());
    std::int64_t step = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      if (i + 1 == batch.size()) step = static_cast<std::int64_t>(layout.item_bytes / item);
      strides[i] = step;
      step = stride_before(step, sizes[i]);
    }
    put_new(result, field.path,
            from_memory(first, field.dtype, sizes, SizesView(strides),
                        c10::Device(c10::DeviceType::CPU), owner));
  }
  return result;
}

void to_structs(const TensorDict& td, void* data, std::size_t bytes, const Layout& layout) {
  const SizesView batch = known_sizes(td.batch_size());
  check(data, bytes, batch, layout);
  std::vector<at::Tensor> held;
  c10::SmallVector<RowColumn, 16> columns;
  for (const Field& field : layout.fields) {
    const at::Tensor& tensor = td.get(field.path);
    const Sizes sizes = sizes_of(batch, field);
    if (tensor.sizes() != SizesView(sizes)) {
      fail(Code::shape, "the field ", show_path(field.path), " takes shape ", show_sizes(sizes),
           ", the entry has ", show_sizes(tensor.sizes()));
    }
    if (tensor.scalar_type() != field.dtype) {
      fail(Code::dtype, "the field ", show_path(field.path), " takes ", dtype_name(field.dtype),
           ", the entry is of ", dtype_name(tensor.scalar_type()));
    }
    if (tensor.is_meta()) {
      fail(Code::device, show_path(field.path), " is on device \"meta\" and has no values");
    }
    held.push_back(plain_values(tensor));
    columns.push_back(
        {static_cast<char*>(held.back().data_ptr()), field.offset, field_bytes(field)});
  }
  transfer<false>(static_cast<char*>(data), product(batch, 1), layout.item_bytes, columns);
}

}  // namespace td
