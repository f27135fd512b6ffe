// core/datasets/thrift.h: values in Thrift's compact protocol, in which Parquet describes itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace td::datasets {

namespace thrift {
enum Type : std::uint8_t {
  stop = 0,
  yes = 1,
  no = 2,
  byte = 3,
  i16 = 4,
  i32 = 5,
  i64 = 6,
  real = 7,
  binary = 8,
  list = 9,
  set = 10,
  map = 11,
  record = 12
};
}  // namespace thrift

// Reads what may be anything: behind the first fault all is 0, and good() is false.
class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

  bool good() const noexcept { return good_; }
  std::size_t at() const noexcept { return at_; }

  struct Field {
    std::int32_t id = 0;
    std::uint8_t type = thrift::stop;
  };
  // Whether the record has another field, behind the one with this number.
  bool next(Field& field);
  std::int64_t integer();
  std::string_view text();
  std::size_t items(std::uint8_t& type);  // of a list
  void skip(std::uint8_t type, int depth = 0);

 private:
  std::uint8_t take();
  std::uint64_t varint();
  bool fault() noexcept { return good_ = false; }

  std::string_view bytes_;
  std::size_t at_;
  bool good_ = true;
};

// Writes one record after the other, also nested.
class ThriftWriter {
 public:
  void integer(std::int32_t id, std::uint8_t type, std::int64_t value);
  void list(std::int32_t id, std::uint8_t type, std::size_t count);
  void item(std::int64_t value) { varint(zigzag(value)); }
  void item(std::string_view value);
  // The bytes of a value in another record, behind the head of its field.
  void copy(std::int32_t id, std::uint8_t type, std::string_view value);
  // A record, as a field or as an item; end() ends it.
  void begin(std::int32_t id);
  void begin();
  void end();

  std::string take() { return std::move(bytes_); }

 private:
  void head(std::int32_t id, std::uint8_t type);
  void varint(std::uint64_t value);
  static std::uint64_t zigzag(std::int64_t value) noexcept {
    return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
  }

  std::string bytes_;
  std::string last_ = std::string(1, '\0');  // the number of the last field, at each depth
};

}  // namespace td::datasets
