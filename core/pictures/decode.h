// core/pictures/decode.h: pictures in files of PNG and JPEG.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace td {

// PNG or JPEG, by its first bytes.
bool is_picture(std::string_view bytes) noexcept;

// [height, width] of gray pictures, [height, width, channels] of others: 3 of colours, one more with transparency. A palette
// becomes colours. uint8; int32 of pictures with 16 bits. What follows the end of a picture is ignored. Code::format for what is
// damaged, is no picture, or takes more than `max_bytes` (0: 1,100 times its bytes and 64 MB); Code::unsupported for
// four colours (CMYK), and without the library that is needed. `where` begins the message.
at::Tensor decode_picture(std::string_view bytes, const std::string& where,
                          std::uint64_t max_bytes = 0);

// Pictures of one form, as rows of one tensor. Code::format if one differs from the first. `where` names a row.
at::Tensor decode_pictures(std::size_t rows,
                           const std::function<std::string_view(std::size_t row)>& bytes,
                           const std::function<std::string(std::size_t row)>& where,
                           std::uint64_t max_bytes = 0);

// A PNG of uint8 [height, width] or [height, width, 1 to 4]. Code::shape, Code::dtype for others.
std::string encode_png(const at::Tensor& picture);

}  // namespace td
