// core/shape/pack.h: the tensors of a dictionary side by side in one tensor.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>
#include <string>
#include <vector>

namespace td {

// Where each tensor of a dictionary stands in the packed one.
struct PackLayout {
  using Names = std::vector<std::string>;  // a path
  struct Nested {
    Names path;
    Sizes batch;       // what it has beyond the root's
    std::string type;  // of a tensorclass; else empty
  };

  std::vector<Names> keys;     // in the order of the columns
  std::vector<Sizes> shapes;   // of each tensor, without the batch dimensions
  std::int64_t dim = -1;       // of the columns, counted from the end
  std::vector<Nested> nested;  // parents first
  std::string device;          // empty: none
  std::string type;            // of a tensorclass; else empty

  // The first column of each tensor, and behind the last.
  std::vector<std::int64_t> offsets() const;
};

// Each tensor's dimensions behind the batch become one, and all stand side by side along `dim`. Columns are in the
// order of the keys, joined with dots, or of `layout`, which the dictionary must fit.
at::Tensor pack(const TensorDict& td, std::int64_t dim, const PackLayout* layout = nullptr);
PackLayout pack_layout(const TensorDict& td, std::int64_t dim);

// The dictionary again: views of `packed`, which may have any batch size.
TensorDict unpack(const PackLayout& layout, const at::Tensor& packed);

// A layout as JSON. One that is read needs `keys` and `shapes` alone.
std::string layout_text(const PackLayout& layout);
PackLayout read_layout(std::string_view text);

}  // namespace td
