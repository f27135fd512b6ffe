#include "core/base/key.h"

#include "core/base/error.h"
#include "core/base/quote.h"

#include <chrono>
#include <cstring>

namespace td {

namespace detail {

std::uint64_t make_hash_seed() noexcept {
  static const char anchor = 0;  // its address is random where the system randomises addresses
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t made =
      mix(reinterpret_cast<std::uintptr_t>(&anchor), static_cast<std::uint64_t>(now)) | 1;
  std::uint64_t seed = 0;
  // If two threads race, the first one sets the seed.
  return hash_seed.compare_exchange_strong(seed, made) ? made : seed;
}

}  // namespace detail

bool is_utf8(std::string_view text) noexcept {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* end = at + text.size();
  while (at < end) {
    const unsigned lead = *at++;
    if (lead < 0x80) continue;
    int follow;
    std::uint32_t code;
    if (lead >= 0xC2 && lead <= 0xDF) {
      follow = 1, code = lead & 0x1F;
    } else if ((lead & 0xF0) == 0xE0) {
      follow = 2, code = lead & 0x0F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      follow = 3, code = lead & 0x07;
    } else {
      return false;
    }
    if (end - at < follow) return false;
    for (int i = 0; i < follow; ++i) {
      if ((*at & 0xC0) != 0x80) return false;
      code = (code << 6) | (*at++ & 0x3FU);
    }
    const bool overlong = (follow == 2 && code < 0x800) || (follow == 3 && code < 0x10000);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (overlong || surrogate || code > 0x10FFFF) return false;
  }
  return true;
}

void check_path(Path path) {
  if (path.empty()) fail(Code::key_invalid, "the key has no name");
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!is_utf8(path[i])) fail(Code::key_invalid, "name ", i, " of the key is not UTF-8");
    if (path[i].find('\0') != std::string_view::npos) {
      fail(Code::key_invalid, "name ", i, " of the key holds a NUL");
    }
  }
}

std::string show_path(Path path) {
  std::string text;
  for (std::string_view name : path) {
    if (!text.empty()) text += '/';
    append_quoted(text, name);
  }
  return text;
}

}  // namespace td
