// core/consolidated/packing.h: all tensors of a dictionary in one buffer, and a JSON text that
// locates them. The format of Python's consolidate(), used for files, shared memory and messages.
#pragma once

#include "core/formats/events.h"
#include "core/tree/nested_tensor.h"

#include <c10/core/Storage.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace td::packing {

// Tensors start at multiples of this, and complex128 ones at multiples of their item size.
inline constexpr std::size_t alignment = 8;
inline constexpr std::size_t max_text_bytes = std::size_t{1} << 28;

// The place of one tensor: its values, then zeros up to `stop`.
struct Place {
  at::Tensor tensor;
  std::size_t start = 0;
  std::size_t bytes = 0;  // of the values
  std::size_t stop = 0;
};

// How to pack a tensor that occurs twice. A dictionary that occurs twice is always packed once.
enum class Twice { copied, once };

// The places of all tensors, in key order, depth first. Throws Code::unsupported, Code::dtype,
// Code::device or Code::key_invalid for what cannot be packed.
class Plan {
 public:
  Plan(const NodePtr& root, Twice twice);

  const NodePtr& root() const noexcept { return root_; }  // dense if it was a sub-tensordict
  const std::vector<Place>& places() const noexcept { return places_; }
  std::size_t bytes() const noexcept { return bytes_; }

  // The place of a tensor that occurs once, or of any with Twice::once.
  std::size_t place_of(const at::Tensor& tensor) const {
    return tensors_.at(tensor.unsafeGetTensorImpl());
  }

  // The first place of a nested tensor: values, lengths if present, offsets.
  std::size_t place_of(const NestedTensorNode& nested_tensor) const {
    return nested_tensor_.at(&nested_tensor);
  }

  // Tells what Python's metadata tell. `all_locked` marks all dictionaries as locked.
  void write(TextEvents& to, bool all_locked = false) const;
  // The same as JSON text, byte for byte as Python writes it.
  std::string text(bool all_locked = false) const;

  // Writes all tensors, with zeros in the gaps, on up to `threads` threads.
  void copy_to(char* data, int threads = 1) const;

 private:
  class Placing;
  class Fields;
  class Telling;
  struct Slots {  // the place of each entry of a dictionary
    std::size_t first;
  };
  static constexpr std::size_t no_place = std::numeric_limits<std::size_t>::max();

  std::size_t add(const at::Tensor& tensor, std::string_view name);
  std::size_t add_new(const at::Tensor& tensor, std::string_view name);
  std::size_t add(const NestedTensorNode& nested_tensor, std::string_view name);

  NodePtr root_;
  Twice twice_;
  std::vector<Place> places_;
  std::vector<std::size_t> slots_;
  std::unordered_map<const Node*, Slots> nodes_;
  std::unordered_map<const c10::TensorImpl*, std::size_t> tensors_;
  std::unordered_map<const Node*, std::size_t> nested_tensor_;
  std::size_t bytes_ = 0;
};

// Prefixes of the names of a nested tensor's parts.
inline constexpr std::string_view nested_tensor_mark = "<NJT_";
inline constexpr std::string_view values_mark = "<NJT_VALUES>";
inline constexpr std::string_view lengths_mark = "<NJT_LENGTHS>";
inline constexpr std::string_view offsets_mark = "<NJT_OFFSETS>";

// The same nested tensor over the views at its places.
NestedTensorPtr nested_tensor_over(const NestedTensorNode& nested_tensor, std::size_t place,
                                   const std::vector<at::Tensor>& views,
                                   std::optional<c10::Device> device);

struct Limits {
  std::size_t depth = 1000;
  std::size_t entries = 1000000;  // of all levels
};

// A parsed text, with sizes, places, names and nesting checked: no tensor exceeds `bytes` or
// overlaps another. Throws Code::format, Code::dtype, Code::unsupported.
class Parsed {
 public:
  Parsed(std::string_view text, std::string where, std::size_t bytes, const Limits& limits);
  Parsed(const Plain& value, std::string where, std::size_t bytes, const Limits& limits);

  // End of the last tensor.
  std::size_t bytes() const noexcept { return bytes_; }

  // The dictionary over a storage in which the bytes start at `offset`. Tensors are views, unless
  // the caller or the text names a device. Locked as the text says.
  NodePtr build(const c10::Storage& storage, std::optional<c10::Device> device) const;

  struct Leaf {
    std::string key;
    c10::ScalarType dtype = c10::ScalarType::Undefined;
    Sizes sizes;
    std::size_t start = 0;
    std::size_t bytes = 0;
    std::int64_t nested_tensor_dim = 1;  // ragged dimension of a nested tensor
  };
  struct NonTensor {
    std::string key;
    Plain value;
    Sizes batch;
    std::optional<std::string> device;
  };
  struct Dict {
    enum class Kind : std::uint8_t { none, dense, lazy, non_tensor_stack } kind = Kind::none;
    std::string key;
    std::vector<Leaf> leaves;
    std::vector<NonTensor> data;
    std::vector<std::size_t> dicts;  // indices of nested dictionaries, each above this one's
    Sizes batch;
    Names names;
    std::optional<std::string> device;
    std::optional<std::string> stack_name;
    std::string tensorclass;  // empty: none
    std::int64_t stack_dim = -1;
    bool has_batch = false;
    bool locked = false;
  };

 private:
  NodePtr build_dense(const Dict& dict, std::vector<NodePtr>& made, const c10::Storage& storage,
                      std::optional<c10::Device> wanted) const;
  NodePtr build_lazy(const Dict& dict, std::vector<NodePtr>& made,
                     std::optional<c10::Device> wanted) const;
  NodePtr build_non_tensor(const NonTensor& data, std::optional<c10::Device> wanted) const;
  std::optional<c10::Device> device_of(const std::optional<std::string>& name,
                                       std::optional<c10::Device> wanted) const;
  void check();
  void check_places() const;

  std::string where_;  // begins the messages
  std::vector<Dict> dicts_;
  std::size_t bytes_ = 0;
};

}  // namespace td::packing
