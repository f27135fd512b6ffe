#include "schema_depth.h"

#include <cstring>
#include <vector>

namespace arrow_module {

namespace {

// Parses the footer, a struct in Thrift's compact protocol; skips all fields but the schema.
enum Type : unsigned {
  stop = 0,
  yes = 1,
  no = 2,
  byte = 3,
  int32 = 5,
  int64 = 6,
  real = 7,
  binary = 8,
  list = 9,
  set = 10,
  map = 11,
  structure = 12,
  uuid = 13
};
constexpr int max_skipped_depth = 64;  // Thrift's own limit
constexpr std::int64_t field_schema = 2, field_children = 5;

class Footer {
 public:
  Footer(const std::uint8_t *at, const std::uint8_t *end) : at_(at), end_(end) {}

  // Returns false if the footer is invalid.
  bool find_depth() {
    std::int64_t id = 0;
    for (unsigned type; next_field(type, id);) {
      if (id == field_schema && type == list) {
        read_schema();
      } else {
        skip(type, 0);
      }
    }
    return good_;
  }
  std::size_t depth() const noexcept { return depth_; }

 private:
  // The elements of the schema in depth-first order, each with its number of children.
  void read_schema() {
    std::vector<std::int64_t> left;
    for (std::uint64_t n = list_header().count; n != 0 && good_; --n) {
      std::int64_t children = 0, id = 0;
      for (unsigned type; next_field(type, id);) {
        if (id == field_children && type == int32) {
          children = static_cast<std::int32_t>(number());
        } else {
          skip(type, 0);
        }
      }
      while (!left.empty() && left.back() == 0) left.pop_back();
      if (!left.empty()) --left.back();
      if (children > 0) left.push_back(children);
      if (left.size() > depth_) depth_ = left.size();
      if (depth_ > max_schema_depth) return void(good_ = false);
    }
  }

  struct List {
    std::uint64_t count;
    unsigned type;
  };
  List list_header() {
    const unsigned head = one();
    List result{head >> 4, head & 15};
    if (result.count == 15) result.count = varint();
    return within(result.count) ? result : List{0, stop};
  }

  bool next_field(unsigned &type, std::int64_t &id) {
    const unsigned head = one();
    type = head & 15;
    if (type == stop || !good_) return false;
    id = head >> 4 == 0 ? static_cast<std::int16_t>(number()) : id + (head >> 4);
    return good_;
  }

  void skip(unsigned type, int level) {
    if (level > max_skipped_depth) good_ = false;
    if (!good_) return;
    switch (type) {
      case yes:
      case no: return;
      case byte: return pass(1);
      case int32 - 1:
      case int32:
      case int64: return void(varint());
      case real: return pass(8);
      case binary: return pass(varint());
      case uuid: return pass(16);
      case list:
      case set: {
        const List each = list_header();
        for (std::uint64_t i = 0; i < each.count && good_; ++i) skip_item(each.type, level);
        return;
      }
      case map: {
        const std::uint64_t count = varint();
        if (count == 0 || !within(count)) return;
        const unsigned types = one();
        for (std::uint64_t i = 0; i < count && good_; ++i) {
          skip_item(types >> 4, level);
          skip_item(types & 15, level);
        }
        return;
      }
      case structure: {
        std::int64_t id = 0;
        for (unsigned below; next_field(below, id);) skip(below, level + 1);
        return;
      }
      default: good_ = false;
    }
  }
  // In a list a bool takes a byte; as a field it takes none.
  void skip_item(unsigned type, int level) {
    type == yes || type == no ? pass(1) : skip(type, level + 1);
  }

  // Each of `count` elements takes at least one byte.
  bool within(std::uint64_t count) {
    if (count > static_cast<std::uint64_t>(end_ - at_)) good_ = false;
    return good_;
  }
  void pass(std::uint64_t bytes) {
    if (within(bytes)) at_ += bytes;
  }
  unsigned one() {
    if (!within(1)) return stop;
    return *at_++;
  }
  std::uint64_t varint() {
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 70 && good_; shift += 7) {
      const unsigned part = one();
      if (shift < 64) result |= std::uint64_t{part & 127} << shift;
      if (part < 128) return result;
    }
    good_ = false;
    return 0;
  }
  std::int64_t number() {
    const std::uint64_t zigzag = varint();
    return static_cast<std::int64_t>(zigzag >> 1) ^ -static_cast<std::int64_t>(zigzag & 1);
  }

  const std::uint8_t *at_;
  const std::uint8_t *end_;
  std::size_t depth_ = 0;
  bool good_ = true;
};

}  // namespace

arrow::Status check_schema_depth(const std::uint8_t *file, std::int64_t bytes) {
  constexpr std::int64_t tail = 8;  // a length and the magic, which also begins the file
  std::uint32_t length = 0;
  if (bytes < tail + 4) return arrow::Status::Invalid("it has ", bytes, " bytes");
  if (std::memcmp(file + bytes - 4, "PAR1", 4) != 0)
    return arrow::Status::Invalid("it does not end with PAR1");
  std::memcpy(&length, file + bytes - tail, sizeof length);
  if (length > bytes - tail - 4) {
    return arrow::Status::Invalid("a footer of ", length, " bytes in a file of ", bytes);
  }
  const std::uint8_t *end = file + bytes - tail;
  Footer footer(end - length, end);
  if (footer.find_depth()) return arrow::Status::OK();
  if (footer.depth() > max_schema_depth) {
    return arrow::Status::Invalid("columns are nested deeper than ", max_schema_depth, " levels");
  }
  return arrow::Status::Invalid("its footer is damaged");
}

}  // namespace arrow_module
