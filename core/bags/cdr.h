// core/bags/cdr.h: the encoding of ROS 2's messages: CDR of version 1, in both byte orders.
#pragma once

#include "core/base/error.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace td::bags {

class Cdr {
 public:
  // Code::format for damaged messages, Code::unsupported for other encodings.
  Cdr(std::string_view message, const std::string& where) : where_(where) {
    if (message.size() < 4) fail(Code::format, where, ": a message of ", message.size(), " bytes");
    const unsigned kind =
        static_cast<unsigned char>(message[0]) << 8 | static_cast<unsigned char>(message[1]);
    if (kind > 1) {
      fail(Code::unsupported, where, ": a message is encoded in the way ", kind,
           "; CDR of version 1 is read (0 and 1)");
    }
    swap_ = (kind == 1) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    bytes_ = message.substr(4);
  }

  bool swap() const noexcept { return swap_; }

  // `count` numbers of `item` bytes, aligned.
  const char* take(std::uint64_t count, std::size_t item) {
    if (count == 0) return bytes_.data();
    at_ = (at_ + item - 1) & ~(item - 1);
    const std::uint64_t left = at_ < bytes_.size() ? bytes_.size() - at_ : 0;
    if (count > left / item) {
      fail(Code::format, where_, ": a message ends too early: ", count, " values of ", item,
           item == 1 ? " byte" : " bytes", " should follow, and there are ", left, " bytes");
    }
    const char* taken = bytes_.data() + at_;
    at_ += count * item;
    return taken;
  }

  template <class T>
  T number() {
    return read<T>(take(1, sizeof(T)), swap_);
  }
  // Without the zero at its end.
  std::string_view text() {
    const auto length = number<std::uint32_t>();
    const std::string_view text(take(length, 1), length);
    return text.empty() || text.back() != '\0' ? text : text.substr(0, text.size() - 1);
  }

  template <class T>
  static T read(const char* from, bool swap) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, from, sizeof(T));
    if (swap) std::reverse(bytes, bytes + sizeof(T));
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }

 private:
  std::string_view bytes_;
  const std::string& where_;
  std::uint64_t at_ = 0;
  bool swap_ = false;
};

}  // namespace td::bags
