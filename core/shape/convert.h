// core/shape/convert.h: converts a dictionary to another dtype, device or pinned memory.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

// Which tensors another dtype concerns.
enum ConvertKinds : std::uint32_t {
  all_kinds = 0,
  floating_kinds = 1,
  complex_kinds = 2,
  integer_kinds = 4,
  bool_kinds = 8,
};

struct ConvertOptions {
  std::optional<c10::ScalarType> dtype;
  std::optional<c10::Device> device;
  bool non_blocking = false;  // does not wait for copies
  bool pin = false;           // through pinned memory; without a device, the result stays there
  bool inplace = false;       // replaces the leaves of `td` itself
  std::uint32_t kinds = all_kinds;  // of tensors whose dtype changes
  // Supplies the device, and the dtype shared by its leaves, unless they are set here.
  const TensorDict* like = nullptr;
  // Converts each leaf as the leaf at the same path in `like`; one on the meta device sets only the dtype.
  bool each_like = false;
};

// Returns `td` itself if nothing changes. Keeps lock, names and tensorclass.
TensorDict convert(const TensorDict& td, const ConvertOptions& options);

// Sets the dictionary's device to the one shared by all leaves, or to none.
void set_common_device(const TensorDict& td);

// Tells the allocator that a stream uses the leaves. `stream` is libtorch's number; for CUDA also the address
// of a cudaStream_t.
void record_stream(const TensorDict& td, c10::Device device, std::int64_t stream);

}  // namespace td
