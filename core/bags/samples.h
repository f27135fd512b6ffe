// core/bags/samples.h: numbers of messages as those of tensors.
#pragma once

#include "core/bags/message_type.h"

#include <c10/core/ScalarType.h>

namespace td::bags {

std::size_t item_bytes(Kind kind) noexcept;
// Wider where PyTorch has no unsigned integers: uint16 is int32, uint32 is int64; of uint64 the bits are kept.
c10::ScalarType dtype_of(Kind kind) noexcept;
// Converts `count` numbers; `swap`: they are in the other byte order.
void convert(Kind kind, const char* from, std::uint64_t count, bool swap, void* to);

// The form of a raw picture of ROS: "rgb8", "32FC1". False if it is not known.
bool samples_of(std::string_view encoding, Kind& kind, std::int64_t& channels);

}  // namespace td::bags
