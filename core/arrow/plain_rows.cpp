#include "core/arrow/plain_rows.h"

#include "core/arrow/types.h"
#include "core/base/key.h"
#include "core/base/quote.h"
#include "core/tree/non_tensor.h"

#include <c10/util/Half.h>

#include <cmath>
#include <cstring>

namespace td::arrow {

namespace {

constexpr std::size_t deepest = 64;

template <class T>
T value_at(const Array& array, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(array.buffers[1]) + i * std::int64_t{sizeof value},
              sizeof value);
  return value;
}

bool bit_at(const void* bits, std::int64_t i) {
  return (static_cast<const std::uint8_t*>(bits)[i / 8] >> (i % 8) & 1) != 0;
}

Plain real(double value) {
  if (std::isnan(value)) return Plain::of_digits("NaN");
  if (std::isinf(value)) return Plain::of_digits(value < 0 ? "-Infinity" : "Infinity");
  return Plain::of_real(value);
}

// The arrays were checked in full by the module.
class RowReader {
 public:
  explicit RowReader(const std::string& where) : where_(where) {}

  Plain read(const Schema& schema, const Array& array, std::int64_t row, const Place& place) const {
    if (place.depth > deepest)
      fail(Code::unsupported, where_, ": nested deeper than ", deepest, " levels");
    check_schema(&schema, place);
    const Type type = type_of(schema.format);
    check_array(&array, schema, type, row, 1, place);
    const std::int64_t i = array.offset + row;
    if (type.kind == Kind::nulls) return {};
    if (array.n_buffers != 0 && array.null_count != 0 && array.buffers[0] != nullptr &&
        !bit_at(array.buffers[0], i))
      return {};
    const bool bare = array.n_buffers > 1 && array.buffers[1] == nullptr;
    if (bare) fail(Code::format, where_, ": ", place, " has elements and no values");
    if (schema.dictionary != nullptr) {
      const Plain at = number(schema, type, array, i, place);
      return read(*schema.dictionary, *array.dictionary, at.integral(), below(place, ""));
    }
    switch (type.kind) {
      case Kind::fields: return object(schema, array, i, place);
      case Kind::list: return list(schema, array, i * type.size, (i + 1) * type.size, place);
      case Kind::ragged: {
        const bool narrow = type.size == 4;
        const std::int64_t begin = offset(array, i, narrow), end = offset(array, i + 1, narrow);
        return list(schema, array, begin, end, place);
      }
      case Kind::text:
      case Kind::binary: return text(type, array, i, place);
      default: return number(schema, type, array, i, place);
    }
  }

 private:
  static Place below(const Place& place, std::string_view name) {
    return {&place, name, place.depth + 1};
  }
  static std::int64_t offset(const Array& array, std::int64_t i, bool narrow) {
    return narrow ? value_at<std::int32_t>(array, i) : value_at<std::int64_t>(array, i);
  }

  Plain object(const Schema& schema, const Array& array, std::int64_t i, const Place& place) const {
    PlainBuilder made;
    made.open();
    for (std::int64_t c = 0; c < schema.n_children; ++c) {
      const Schema& child = *schema.children[c];
      const std::string_view name = child.name == nullptr ? "" : child.name;
      check_path({name});
      made.name(name);
      made.add(read(child, *array.children[c], i, below(place, name)));
    }
    made.close(true);
    return made.take();
  }

  Plain list(const Schema& schema, const Array& array, std::int64_t begin, std::int64_t end,
             const Place& place) const {
    if (schema.n_children != 1 || begin < 0 || end < begin)
      fail(Code::format, where_, ": ", place, " has a list from ", begin, " to ", end);
    std::vector<Plain> items;
    for (std::int64_t at = begin; at < end; ++at)
      items.push_back(read(*schema.children[0], *array.children[0], at, below(place, "item")));
    return Plain::of_list(std::move(items));
  }

  Plain text(const Type& type, const Array& array, std::int64_t i, const Place& place) const {
    const bool narrow = type.size == 4;
    const std::int64_t begin = offset(array, i, narrow), end = offset(array, i + 1, narrow);
    const auto* data = static_cast<const char*>(array.buffers[2]);
    if (begin < 0 || end < begin || (data == nullptr && end != begin))
      fail(Code::format, where_, ": ", place, " lies from byte ", begin, " to ", end);
    const std::string_view found =
        end == begin ? std::string_view()
                     : std::string_view(data + begin, static_cast<std::size_t>(end - begin));
    if (type.kind == Kind::binary) return plain_of_bytes(found);
    if (!is_utf8(found)) fail(Code::format, where_, ": ", place, " is not UTF-8");
    return Plain::of_text(found);
  }

  Plain number(const Schema& schema, const Type& type, const Array& array, std::int64_t i,
               const Place& place) const {
    if (type.kind == Kind::bits) return Plain::of_truth(bit_at(array.buffers[1], i));
    if (type.kind == Kind::wide && type.size == 2)
      return Plain::of_integer(value_at<std::uint16_t>(array, i));
    if (type.kind == Kind::wide && type.size == 4)
      return Plain::of_integer(value_at<std::uint32_t>(array, i));
    if (type.kind == Kind::wide) {
      const auto value = value_at<std::uint64_t>(array, i);
      const auto as = static_cast<std::int64_t>(value);
      return as >= 0 ? Plain::of_integer(as) : Plain::of_digits(std::to_string(value));
    }
    if (type.kind == Kind::numbers) {
      switch (type.dtype) {
        case c10::ScalarType::Byte: return Plain::of_integer(value_at<std::uint8_t>(array, i));
        case c10::ScalarType::Char: return Plain::of_integer(value_at<std::int8_t>(array, i));
        case c10::ScalarType::Short: return Plain::of_integer(value_at<std::int16_t>(array, i));
        case c10::ScalarType::Int: return Plain::of_integer(value_at<std::int32_t>(array, i));
        case c10::ScalarType::Long: return Plain::of_integer(value_at<std::int64_t>(array, i));
        case c10::ScalarType::Half: return real(value_at<c10::Half>(array, i));
        case c10::ScalarType::Float: return real(double{value_at<float>(array, i)});
        case c10::ScalarType::Double: return real(value_at<double>(array, i));
        default: break;
      }
      const char letter = schema.format[0];  // a dtype of newer libtorch
      if (letter == 'S') return Plain::of_integer(value_at<std::uint16_t>(array, i));
      if (letter == 'I') return Plain::of_integer(value_at<std::uint32_t>(array, i));
      if (letter == 'L') {
        const auto value = value_at<std::uint64_t>(array, i);
        return Plain::of_digits(std::to_string(value));
      }
    }
    fail(Code::unsupported, where_, ": ", place, " is of Arrow format ", quote(schema.format),
         ", which is not read here");
  }

  const std::string& where_;
};

}  // namespace

std::vector<Plain> plain_rows(const Slice& slice, const std::string& where) {
  const RowReader reader(where);
  std::vector<Plain> rows;
  const Place root;
  for (const Part& part : slice.parts) {
    for (std::int64_t i = 0; i < part.count; ++i)
      rows.push_back(reader.read(slice.schema->value, *part.array, part.start + i, root));
  }
  return rows;
}

}  // namespace td::arrow
