// core/bags/mcap_records.h: the records that a file of MCAP consists of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace td::bags {

inline constexpr std::string_view mcap_magic("\x89MCAP0\r\n", 8);
inline constexpr std::size_t record_head = 9;  // opcode and length

namespace op {
enum : std::uint8_t {
  header = 1,
  footer = 2,
  schema = 3,
  channel = 4,
  message = 5,
  chunk = 6,
  message_index = 7,
  chunk_index = 8,
  statistics = 11,
  metadata = 12,
  metadata_index = 13,
  data_end = 15,
};
}  // namespace op

struct Record {
  std::uint8_t opcode;
  std::string_view content;
  std::uint64_t at;  // of its opcode
};

// Moves `at` behind the record; false if there is no whole one.
inline bool record_at(std::string_view in, std::uint64_t& at, Record& record) {
  if (at > in.size() || in.size() - at < record_head) return false;
  std::uint64_t length = 0;
  std::memcpy(&length, in.data() + at + 1, sizeof length);
  if (length > in.size() - at - record_head) return false;
  record = {static_cast<std::uint8_t>(in[at]), in.substr(at + record_head, length), at};
  at += record_head + length;
  return true;
}

}  // namespace td::bags
