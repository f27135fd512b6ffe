// core/replay/sampler_record.h: how a buffer draws, for draws.json.
#pragma once

#include "core/formats/plain.h"
#include "core/replay/replay_sampler.h"

#include <string>

namespace td {

// Files of a sampler do not say whether rows or slices are drawn, nor what separates episodes. JSON; empty for a
// sampler of which the files say all.
std::string sampler_record(const ReplayOptions& options);

// Options with the sampler of a record. Throws Code::format; `where` begins the message.
ReplayOptions read_sampler_record(const Plain& json, const std::string& where);

// The caller's options, and from a record what they leave open.
ReplayOptions with_record(ReplayOptions options, const ReplayOptions& record);

}  // namespace td
