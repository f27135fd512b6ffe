// core/inspect/layout.h: converts a caller's arrays of structs to dictionaries and back.
#pragma once

#include "core/tree/tensordict.h"

#include <cstddef>
#include <memory>

namespace td {

// A member of a struct and its entry.
struct Field {
  Path path;
  c10::ScalarType dtype;
  SizesView sizes;  // of one member; empty: a number
  std::size_t offset;
};

struct Layout {
  c10::ArrayRef<Field> fields;
  std::size_t item_bytes;  // from one struct to the next
};

// Copies each field into a column. `bytes` must be the size of the whole batch.
TensorDict from_structs(const void* data, std::size_t bytes, SizesView batch, const Layout& layout);

// Tensors over the structs themselves. Offsets and item_bytes must be multiples of the element sizes.
TensorDict view_structs(void* data, std::size_t bytes, SizesView batch, const Layout& layout,
                        const std::shared_ptr<void>& owner);

// Writes the entries into structs; leaves the bytes between fields unchanged.
void to_structs(const TensorDict& td, void* data, std::size_t bytes, const Layout& layout);

}  // namespace td
