// core/formats/format_read.h: what the readers of a meta.json share.
#pragma once

#include "core/formats/format.h"

namespace td::format {

// Whether a number is whole and beyond a version that can be read.
bool is_later(const Plain& version) noexcept;

[[noreturn]] void fail_later(const std::string& where, const Plain& version);

// The fields of a dictionary: each that is an object is an entry. Throws Code::format, Code::unsupported.
void read_dense(std::string_view text, const std::string& where, const Limits& limits,
                NodeText& result);

}  // namespace td::format
