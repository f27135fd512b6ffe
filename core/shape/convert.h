// core/shape/convert.h: a whole dictionary of another dtype, on another device, in pinned memory.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

struct ConvertOptions {
  std::optional<c10::ScalarType> dtype;
  std::optional<c10::Device> device;
  bool non_blocking = false;  // do not wait for copies
  bool pin = false;           // through pinned memory; without a device that is where they stay
  bool inplace = false;       // the leaves of `td` itself are replaced
  // Taken over where nothing else is said: the device, and the dtype that all its leaves have.
  const TensorDict* like = nullptr;
  // Instead, each leaf is converted as the leaf of the same path in `like` is. Those on the meta device
  // only tell a dtype.
  bool each_like = false;
};

// The same dictionary when nothing changes. Lock, names and tensorclass are kept.
TensorDict convert(const TensorDict& td, const ConvertOptions& options);

// The device becomes what all leaves have in common, or none.
void set_common_device(const TensorDict& td);

// Tells the allocator that work on a stream uses the leaves. `stream` is libtorch's number; for CUDA also
// the address of a cudaStream_t.
void record_stream(const TensorDict& td, c10::Device device, std::int64_t stream);

// What can be counted or asked of all leaves together.
enum class Measure {
  elements,       // numbers in all leaves
  elements_once,  // the same, a tensor that stands in several places counted once
  bytes,          // of the leaves and their gradients
  bytes_once,
  is_floating_point,  // every leaf is of a floating dtype; 1 when there is none
  requires_grad,      // any leaf
  is_pinned,          // every leaf lies in pinned memory
};
std::int64_t measure(const TensorDict& td, Measure what);

// The dtype that all leaves have in common.
std::optional<c10::ScalarType> common_dtype(const TensorDict& td);

// Addresses of the first elements of all leaves, or of their storages, in the order of keys().
std::vector<std::int64_t> data_pointers(const TensorDict& td, bool storage);

// Waits for copies that were started between the devices of the leaves and `target`.
void wait_for_copies(const Node& source, c10::Device target);

}  // namespace td
