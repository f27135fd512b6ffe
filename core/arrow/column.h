// core/arrow/column.h: a column of Arrow as a tensor or as non-tensor data.
#pragma once

#include "core/arrow/arrow.h"
#include "core/arrow/types.h"
#include "core/formats/plain.h"
#include "core/tensor/sizes.h"

#include <memory>
#include <string>
#include <vector>

namespace td::arrow {

// A column's part in one record batch.
struct Part {
  const Array* array = nullptr;
  std::int64_t start = 0;  // skipped elements of `array`, besides its offset
  std::int64_t count = 0;  // elements
  std::int64_t rows = 0;   // of the record batch
  at::Tensor valid = {};   // bool, over the leading dimensions of the values; undefined: no nulls
  std::shared_ptr<void> owner = {};  // keeps all memory alive
};

using Parts = c10::SmallVector<Part, 1>;

struct Field {
  const Schema* schema = nullptr;
  Type type = {};
  Sizes inner = {};  // sizes of one batch element
  Parts parts = {};
};

// [rows, inner…]
Sizes sizes_in(const Part& part, SizesView inner);

// Merges the array's own nulls with those of the arrays around it.
void note_nulls(Part& part, SizesView inner, const Place& where);

// The values of all parts, concatenated.
struct Cells {
  at::Tensor values = {};  // numbers, or positions in `texts`
  at::Tensor valid = {};   // as in Part
  std::vector<Plain> texts = {};
};

Cells read_cells(const Field& field, bool copy, const Place& where);

// Reads one part; arrow_text.cpp reads texts. Ignores `field.parts`.
at::Tensor read_numbers(const Field& field, const Part& part, bool copy, const Place& where);
Cells read_texts(const Field& field, const Part& part, const Place& where);

inline bool is_text(Kind kind) noexcept {
  return kind == Kind::text || kind == Kind::binary || kind == Kind::view;
}
inline bool is_number(Kind kind) noexcept {
  return kind == Kind::numbers || kind == Kind::wide || kind == Kind::bits || kind == Kind::bytes;
}

// Appends dimensions of size 1, to broadcast over `dims` dimensions.
at::Tensor spread(const at::Tensor& valid, std::int64_t dims);

}  // namespace td::arrow
