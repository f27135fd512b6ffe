// writer_handle.h: the object behind a td_writer.
#pragma once

#include "arguments.h"

#include "core/record/writer.h"

namespace capi {

template <>
struct Traits<td_writer> : OwnedTraits<td::record::Writer, Kind::writer> {
  static constexpr const char* name = "writer";
};

}  // namespace capi
