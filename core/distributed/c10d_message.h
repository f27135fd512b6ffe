// core/distributed/c10d_message.h: a dictionary as a pickle and one buffer, as Python's consolidate() makes them.
#pragma once

#include "core/consolidated/message.h"
#include "core/formats/plain.h"
#include "core/tree/tensordict.h"

#include <string>
#include <string_view>

namespace td::distributed {

struct Packed {
  std::string pickle;  // Python's metadata, including the sizes that receivers expect
  at::Tensor bytes;    // of all tensors
};

// The call that sends it: the pickles differ.
enum class Way { remote, broadcast, gather };
// Whether to send a consolidated dictionary's own buffer, or a copy because the caller may change
// it meanwhile.
enum class Rows : std::uint8_t { lent, copied };
Packed pack(const TensorDict& td, Way way, int num_threads, Rows rows = Rows::lent);

// One dictionary for each rank; each pickle holds the largest buffer size of all of them.
std::vector<Packed> pack_all(c10::ArrayRef<TensorDict> parts, int num_threads, Rows rows);

// The metadata of a received buffer. Not trusted.
class Unpacked {
 public:
  Unpacked(std::string_view pickle, const ReceiveOptions& limits);
  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t most_bytes() const noexcept { return most_; }  // of all ranks, or of this one
  // A dictionary over the buffer, which may be longer than needed.
  TensorDict build(const c10::Storage& storage) const;

 private:
  Plain value_;
  ReceiveOptions limits_;
  std::size_t bytes_ = 0;
  std::size_t most_ = 0;
};

// Parses the pickle of a collective call. An error is Code::capacity or Code::io, which close the
// group, because this rank can no longer follow the others.
Unpacked in_step(std::string_view pickle, const ReceiveOptions& limits);

// Code::capacity for a negative size or one above the caller's limit.
std::size_t checked_size(std::int64_t size, const ReceiveOptions& limits, const char* what);

}  // namespace td::distributed
