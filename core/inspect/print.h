// core/inspect/print.h: prints tensors and dictionaries as Python's tensordict does.
#pragma once

#include "core/tensor/dtype.h"
#include "core/tree/tensordict.h"

#include <cstdint>
#include <string>

namespace td {

// What is printed of a dictionary and of each tensor in it; the names are those of Python's set_printoptions.
namespace print_part {
enum : std::uint32_t {
  batch_size = 1,
  device = 2,
  is_shared = 4,
  shape = 8,
  field_device = 16,
  dtype = 32,
  field_is_shared = 64,
  grad = 128,
  is_contiguous = 256,
  is_view = 512,
  storage_size = 1024,
  plain = 2048,
  all = 4095,
  usual = 127,
  brief = batch_size | shape,             // with verbose=False
  compact = batch_size | device | dtype,  // what the compact form prints
};
}  // namespace print_part

enum class PrintForm : std::int32_t { automatic, compact, detailed };

struct PrintOptions {
  bool compact = true;
  bool sorted = true;  // else in the order of the keys
  std::uint32_t parts = print_part::usual;

  bool has(std::uint32_t part) const noexcept { return (parts & part) != 0; }
};

// As set_printoptions does: `automatic` is the compact form, unless a part is shown or hidden that only the detailed
// one prints. What is both shown and hidden throws Code::invalid_argument.
PrintOptions print_options(PrintForm form, std::uint32_t show, std::uint32_t hide, bool brief);

// "Tensor(shape=torch.Size([3]), device=cpu, dtype=torch.float32, is_shared=False)"
std::string describe(const at::Tensor& tensor);

std::string print(const TensorDict& td, const PrintOptions& options = {});

}  // namespace td
