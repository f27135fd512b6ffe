// core/tensor/rows.h: copies rows of plain memory.
#pragma once

#include "core/tensor/sizes.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace td::rows {

// Copies of at least this size use libtorch's threads. From the rows "threads:" of bench/run: below it,
// waking threads costs more than it saves.
inline constexpr std::size_t parallel_bytes = std::size_t{8} << 20;

// memcpy, on several threads if it is large. Without bytes the addresses may be null.
void copy_large(char* target, const char* source, std::size_t bytes);
inline void copy(char* target, const char* source, std::size_t bytes) {
  if (bytes >= parallel_bytes) return copy_large(target, source, bytes);
  if (bytes != 0) std::memcpy(target, source, bytes);
}

// Copies between two strided layouts of the same sizes. Strides count elements.
void copy_strided(char* target, SizesView target_strides, const char* source,
                  SizesView source_strides, SizesView sizes, std::size_t item_bytes);

// target[i] = source[positions[i]] for rows of `row_bytes`.
void gather(char* target, const char* source, const std::int64_t* positions, std::size_t count,
            std::size_t row_bytes, std::size_t source_step);

// target[positions[i]] = source[i] for rows of `row_bytes`; the last of equal positions wins.
void scatter(char* target, const char* source, const std::int64_t* positions, std::size_t count,
             std::size_t row_bytes, std::size_t target_step);

// Interleaves blocks: for each outer position, a block of each source in order.
struct Block {
  const char* data;
  std::size_t bytes;  // of one block
};
void interleave(char* target, c10::ArrayRef<Block> blocks, std::size_t outer);

}  // namespace td::rows
