#include "core/datasets/thrift.h"

namespace td::datasets {

std::uint8_t ThriftReader::take() {
  if (!good_ || at_ >= bytes_.size()) return fault(), std::uint8_t{0};
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ThriftReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = take();
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return good_ ? value : 0;
  }
  return fault(), std::uint64_t{0};
}

std::int64_t ThriftReader::integer() {
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

bool ThriftReader::next(Field& field) {
  const std::uint8_t head = take();
  field.type = head & 0x0FU;
  if (!good_ || field.type == thrift::stop) return false;
  const std::int64_t id = (head >> 4U) != 0 ? field.id + (head >> 4U) : integer();
  if (id <= field.id || id > INT16_MAX || field.type > thrift::record) return fault();
  field.id = static_cast<std::int32_t>(id);
  return good_;
}

std::string_view ThriftReader::text() {
  const std::uint64_t length = varint();
  if (!good_ || length > bytes_.size() - at_) return fault(), std::string_view();
  at_ += length;
  return bytes_.substr(at_ - length, length);
}

std::size_t ThriftReader::items(std::uint8_t& type) {
  const std::uint8_t head = take();
  type = head & 0x0FU;
  const std::uint64_t count = (head >> 4U) == 15 ? varint() : head >> 4U;
  // Each takes a byte at least.
  if (!good_ || count > bytes_.size() - at_) return fault(), std::size_t{0};
  return static_cast<std::size_t>(count);
}

void ThriftReader::skip(std::uint8_t type, int depth) {
  constexpr int deepest = 16;
  if (depth > deepest) return void(fault());
  switch (type) {
    case thrift::yes:
    case thrift::no: return;
    case thrift::byte: return void(take());
    case thrift::i16:
    case thrift::i32:
    case thrift::i64: return void(varint());
    case thrift::real:
      for (int i = 0; i < 8; ++i) take();
      return;
    case thrift::binary: return void(text());
    case thrift::list:
    case thrift::set: {
      std::uint8_t item = 0;
      for (std::size_t left = items(item); left > 0 && good_; --left)
        item == thrift::yes || item == thrift::no ? void(take()) : skip(item, depth + 1);
      return;
    }
    case thrift::record: {
      for (Field field; next(field);) skip(field.type, depth + 1);
      return;
    }
    default: return void(fault());  // Parquet has no maps
  }
}

void ThriftWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>((value & 0x7FU) | 0x80U);
  bytes_ += static_cast<char>(value);
}

void ThriftWriter::head(std::int32_t id, std::uint8_t type) {
  bytes_ += static_cast<char>(static_cast<unsigned>(id - last_.back()) << 4U | type);
  last_.back() = static_cast<char>(id);
}

void ThriftWriter::integer(std::int32_t id, std::uint8_t type, std::int64_t value) {
  head(id, type);
  item(value);
}

void ThriftWriter::item(std::string_view value) {
  varint(value.size());
  bytes_ += value;
}

void ThriftWriter::list(std::int32_t id, std::uint8_t type, std::size_t count) {
  head(id, thrift::list);
  bytes_ += static_cast<char>((count < 15 ? static_cast<unsigned>(count) << 4U : 0xF0U) | type);
  if (count >= 15) varint(count);
}

void ThriftWriter::copy(std::int32_t id, std::uint8_t type, std::string_view value) {
  head(id, type);
  bytes_ += value;
}

void ThriftWriter::begin(std::int32_t id) {
  head(id, thrift::record);
  begin();
}

void ThriftWriter::begin() { last_ += '\0'; }

void ThriftWriter::end() {
  bytes_ += '\0';
  last_.pop_back();
}

}  // namespace td::datasets
