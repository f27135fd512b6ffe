#include "core/tensor/rows.h"

#include <ATen/Parallel.h>

#include <cstring>

namespace td::rows {

namespace {

// With a constant length, a row is one or two moves instead of a call.
template <std::size_t bytes>
struct FixedRow {
  static void copy(char* target, const char* source) noexcept {
    std::memcpy(target, source, bytes);
  }
};

// Calls `body(copy_row)` with a function that copies one row, specialised for common lengths.
template <class Body>
void with_row_copy(std::size_t row_bytes, Body&& body) {
  switch (row_bytes) {
    case 1: return body([](char* t, const char* s) { FixedRow<1>::copy(t, s); });
    case 2: return body([](char* t, const char* s) { FixedRow<2>::copy(t, s); });
    case 4: return body([](char* t, const char* s) { FixedRow<4>::copy(t, s); });
    case 8: return body([](char* t, const char* s) { FixedRow<8>::copy(t, s); });
    case 16: return body([](char* t, const char* s) { FixedRow<16>::copy(t, s); });
    case 32: return body([](char* t, const char* s) { FixedRow<32>::copy(t, s); });
    case 64: return body([](char* t, const char* s) { FixedRow<64>::copy(t, s); });
    default: return body([row_bytes](char* t, const char* s) { std::memcpy(t, s, row_bytes); });
  }
}

// Runs `body(begin, end)` over `n` rows, on several threads if that is worthwhile.
template <class Body>
void over_rows(std::size_t n, std::size_t row_bytes, Body&& body) {
  if (n < 2 || n * row_bytes < parallel_bytes) {
    body(std::size_t{0}, n);
    return;
  }
  const std::size_t grain = parallel_bytes / 2 / (row_bytes == 0 ? 1 : row_bytes) + 1;
  at::parallel_for(0, static_cast<std::int64_t>(n), static_cast<std::int64_t>(grain),
                   [&](std::int64_t begin, std::int64_t end) {
                     body(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
                   });
}

}  // namespace

void copy_large(char* target, const char* source, std::size_t bytes) {
  over_rows(bytes, 1, [&](std::size_t begin, std::size_t end) {
    std::memcpy(target + begin, source + begin, end - begin);
  });
}

void gather(char* target, const char* source, const std::int64_t* positions, std::size_t count,
            std::size_t row_bytes, std::size_t source_step) {
  with_row_copy(row_bytes, [&](auto copy_row) {
    over_rows(count, row_bytes, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        copy_row(target + i * row_bytes,
                 source + static_cast<std::size_t>(positions[i]) * source_step);
      }
    });
  });
}

void scatter(char* target, const char* source, const std::int64_t* positions, std::size_t count,
             std::size_t row_bytes, std::size_t target_step) {
  with_row_copy(row_bytes, [&](auto copy_row) {
    for (std::size_t i = 0; i < count; ++i) {
      copy_row(target + static_cast<std::size_t>(positions[i]) * target_step,
               source + i * row_bytes);
    }
  });
}

void interleave(char* target, c10::ArrayRef<Block> blocks, std::size_t outer) {
  std::size_t stride = 0;
  for (const Block& block : blocks) stride += block.bytes;
  if (outer == 1 && blocks.size() > 1 && stride >= parallel_bytes) {
    at::parallel_for(0, static_cast<std::int64_t>(blocks.size()), 1,
                     [&](std::int64_t begin, std::int64_t end) {
                       char* at = target;
                       for (std::int64_t k = 0; k < begin; ++k) at += blocks[k].bytes;
                       for (std::int64_t k = begin; k < end; ++k) {
                         std::memcpy(at, blocks[k].data, blocks[k].bytes);
                         at += blocks[k].bytes;
                       }
                     });
    return;
  }
  over_rows(outer, stride, [&](std::size_t begin, std::size_t end) {
    char* at = target + begin * stride;
    for (std::size_t o = begin; o < end; ++o) {
      for (const Block& block : blocks) {
        if (block.bytes == 0) continue;  // its address may be null
        std::memcpy(at, block.data + o * block.bytes, block.bytes);
        at += block.bytes;
      }
    }
  });
}

void copy_strided(char* target, SizesView target_strides, const char* source,
                  SizesView source_strides, SizesView sizes, std::size_t item_bytes) {
  // Merge adjacent dimensions that are contiguous in both layouts; drop those of size 1.
  struct Dim {
    std::int64_t size, target_step, source_step;
  };
  c10::SmallVector<Dim, 8> dims;  // innermost first
  const auto item = static_cast<std::int64_t>(item_bytes);
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return;
    if (sizes[i] == 1) continue;
    const Dim dim{sizes[i], target_strides[i] * item, source_strides[i] * item};
    if (!dims.empty() && dim.target_step == dims.back().size * dims.back().target_step &&
        dim.source_step == dims.back().size * dims.back().source_step) {
      dims.back().size *= dim.size;
    } else {
      dims.push_back(dim);
    }
  }
  std::size_t run = item_bytes;
  std::size_t first = 0;
  if (!dims.empty() && dims[0].target_step == item && dims[0].source_step == item) {
    run *= static_cast<std::size_t>(dims[0].size);
    first = 1;
  }
  if (first == dims.size()) {
    copy(target, source, run);
    return;
  }
  // The innermost remaining dimension is a plain loop; an odometer counts the outer ones.
  const Dim inner = dims[first];
  std::size_t outer = 1;
  for (std::size_t i = first + 1; i < dims.size(); ++i)
    outer *= static_cast<std::size_t>(dims[i].size);
  with_row_copy(run, [&](auto copy_row) {
    over_rows(
        outer, run * static_cast<std::size_t>(inner.size), [&](std::size_t begin, std::size_t end) {
          for (std::size_t o = begin; o < end; ++o) {
            std::int64_t to = 0, from = 0;
            std::size_t left = o;
            for (std::size_t i = first + 1; i < dims.size(); ++i) {
              const auto at =
                  static_cast<std::int64_t>(left % static_cast<std::size_t>(dims[i].size));
              left /= static_cast<std::size_t>(dims[i].size);
              to += at * dims[i].target_step;
              from += at * dims[i].source_step;
            }
            for (std::int64_t k = 0; k < inner.size; ++k) {
              copy_row(target + to + k * inner.target_step, source + from + k * inner.source_step);
            }
          }
        });
  });
}

}  // namespace td::rows
