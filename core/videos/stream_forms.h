// core/videos/stream_forms.h: encoded frames as a file has them, where encoders give them as a stream has them.
#pragma once

#include "core/videos/mp4.h"

#include <string>
#include <string_view>

namespace td::videos {

// What the file keeps beside the frames (avcC, av1C), of what the encoder has for a stream. Code::unsupported for what is not
// understood; `where` begins the messages.
std::string file_header(Codec codec, std::string_view stream, const std::string& where);

// One frame: units of H.264 behind their lengths, AV1 without the marks between frames.
std::string file_frame(Codec codec, std::string_view stream, const std::string& where);

}  // namespace td::videos
