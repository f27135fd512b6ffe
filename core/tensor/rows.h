// core/tensor/rows.h: moving rows of plain memory. Nothing here knows of tensors.
#pragma once

#include "core/tensor/sizes.h"

#include <cstddef>
#include <cstdint>

namespace td::rows {

// From this many bytes on a copy is shared between libtorch's threads. Set by the rows "threads:" of
// bench/run: below it waking the threads costs more than they save, and on a busy machine far more.
inline constexpr std::size_t parallel_bytes = std::size_t{8} << 20;

// memcpy, shared between threads when it is long.
void copy(char* target, const char* source, std::size_t bytes);

// Copies between two strided layouts of equal sizes. Strides count elements.
void copy_strided(char* target, SizesView target_strides, const char* source,
                  SizesView source_strides, SizesView sizes, std::size_t item_bytes);

// target[i] = source[positions[i]] for rows of `row_bytes`.
void gather(char* target, const char* source, const std::int64_t* positions, std::size_t count,
            std::size_t row_bytes, std::size_t source_step);

// target[positions[i]] = source[i] for rows of `row_bytes`; in order, the last one wins.
void scatter(char* target, const char* source, const std::int64_t* positions, std::size_t count,
             std::size_t row_bytes, std::size_t target_step);

// Interleaves blocks: for each outer position the block of every source, one after the other.
struct Block {
  const char* data;
  std::size_t bytes;  // of one block
};
void interleave(char* target, c10::ArrayRef<Block> blocks, std::size_t outer);

}  // namespace td::rows
