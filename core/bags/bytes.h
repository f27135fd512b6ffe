// core/bags/bytes.h: little-endian numbers and texts, one after the other, without reading beyond their end.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace td::bags {

class Bytes {
 public:
  Bytes(std::string_view bytes, const std::string& where) : left_(bytes), where_(where) {}

  bool empty() const noexcept { return left_.empty(); }
  std::string_view rest() const noexcept { return left_; }

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view text() { return take(number<std::uint32_t>()); }

  std::string_view take(std::uint64_t count) {
    if (count > left_.size()) {
      fail(Code::format, where_, " ends too early: ", count, " bytes should follow, and there are ",
           left_.size());
    }
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }

 private:
  std::string_view left_;
  const std::string& where_;
};

}  // namespace td::bags
