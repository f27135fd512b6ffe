// core/interop/arrow_column.h: the values of one column of Arrow, as a tensor or as non-tensor data.
#pragma once

#include "core/interop/arrow.h"
#include "core/interop/arrow_types.h"
#include "core/tensor/sizes.h"

#include <memory>
#include <string>
#include <vector>

namespace td::arrow {

// What one record batch has of a column.
struct Part {
  const Array* array = nullptr;
  std::int64_t start = 0;  // elements of `array` before the first, beside its offset
  std::int64_t count = 0;  // elements
  std::int64_t rows = 0;   // of the record batch
  at::Tensor valid = {};  // bool, over the first dimensions of the values; undefined: all are there
  std::shared_ptr<void> owner = {};  // of all memory
};

using Parts = c10::SmallVector<Part, 1>;

struct Field {
  const Schema* schema = nullptr;
  Type type = {};
  Sizes inner = {};  // the sizes of an element of the batch
  Parts parts = {};
};

// [rows, inner…]
Sizes sizes_in(const Part& part, SizesView inner);

// Adds the nulls of the array itself to those that the arrays around it have.
void note_nulls(Part& part, SizesView inner, const Place& where);

// The values of all parts, one after the other.
struct Cells {
  at::Tensor values = {};               // numbers, or positions in `texts`
  at::Tensor valid = {};                // as above
  std::vector<std::string> texts = {};  // as JSON
};

Cells read_cells(const Field& field, bool copy, const Place& where);

// Those of one part; arrow_text.cpp has the texts. `field.parts` is not looked at.
at::Tensor read_numbers(const Field& field, const Part& part, bool copy, const Place& where);
Cells read_texts(const Field& field, const Part& part, const Place& where);

inline bool is_text(Kind kind) noexcept {
  return kind == Kind::text || kind == Kind::binary || kind == Kind::view;
}
inline bool is_number(Kind kind) noexcept {
  return kind == Kind::numbers || kind == Kind::wide || kind == Kind::bits || kind == Kind::bytes;
}

// With dimensions of size 1 behind it, so that it broadcasts over values of so many dimensions.
at::Tensor spread(const at::Tensor& valid, std::int64_t dims);

}  // namespace td::arrow
