// core/videos/library.h: the functions of the module that decodes and encodes videos.
#pragma once

#include "core/io/loaded_library.h"
#include "core/videos/module.h"

#include <string>

namespace td::videos {

struct Library {
  explicit Library(const std::string& where);
  TdVideoOpen* open;
  TdVideoClose* close;
  TdVideoReset* reset;
  TdVideoSend* send;
  TdVideoReceive* receive;
  TdVideoPicture* picture;
  TdVideoEncode* encode;
  TdVideoEncodeClose* encode_close;
  TdVideoEncodeHeader* encode_header;
  TdVideoEncodeSend* encode_send;
  TdVideoEncodeReceive* encode_receive;
};

// The first call loads the module. Throws Code::unsupported if it is missing; `where` begins the message.
inline const Library& library(const std::string& where) { return loaded<Library>(where); }

}  // namespace td::videos
