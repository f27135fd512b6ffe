// core/distributed/metadata.h: a dictionary as a pickle and one row of bytes, as Python's consolidate() makes them.
#pragma once

#include "core/consolidated/message.h"
#include "core/tree/tensordict.h"

#include <string>
#include <string_view>

namespace td::distributed {

struct Packed {
  std::string pickle;  // Python's metadata, with the sizes that its receivers expect in it
  at::Tensor bytes;    // of all tensors
};

// Where the dictionary travels: the items of the pickle differ.
enum class Way { remote, broadcast, gather };
// A dictionary that lies in one row already lends it, unless the caller may change it meanwhile.
enum class Rows : std::uint8_t { lent, copied };
Packed pack(const TensorDict& td, Way way, int num_threads, Rows rows = Rows::lent);

// One dictionary for each rank, with the longest row of all of them in each pickle.
std::vector<Packed> pack_all(c10::ArrayRef<TensorDict> parts, int num_threads, Rows rows);

// What a pickle says of the row of bytes behind it. Nothing in it is trusted.
class Unpacked {
 public:
  Unpacked(std::string_view pickle, const ReceiveOptions& limits);
  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t most_bytes() const noexcept { return most_; }  // of all ranks, or of this one
  // Over the row, which may be longer.
  TensorDict build(const c10::Storage& storage) const;

 private:
  std::string json_;
  ReceiveOptions limits_;
  std::size_t bytes_ = 0;
  std::size_t most_ = 0;
};

// Of a pickle in a call of all ranks. One that is wrong leaves this rank behind the others, so its error is
// Code::capacity or Code::io, which close the group.
Unpacked in_step(std::string_view pickle, const ReceiveOptions& limits);

// Code::capacity for a size that a caller does not allow, or that is none.
std::size_t checked_size(std::int64_t size, const ReceiveOptions& limits, const char* what);

}  // namespace td::distributed
