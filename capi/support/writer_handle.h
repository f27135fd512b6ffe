// writer_handle.h: the object behind a td_writer.
#pragma once

#include "arguments.h"

#include "core/append/writer.h"

namespace capi {

template <>
struct Traits<td_writer> : OwnedTraits<td::Writer, Kind::writer> {
  static constexpr const char* name = "writer";
};

}  // namespace capi
