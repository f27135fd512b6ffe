#include "core/arrow/types.h"

#include "core/base/key.h"
#include "core/tensor/dtype.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

namespace td::arrow {

namespace {

std::optional<std::int64_t> size_behind(std::string_view format, std::size_t prefix) noexcept {
  std::int32_t size = 0;
  const char* end = format.data() + format.size();
  const auto read = std::from_chars(format.data() + prefix, end, size);
  if (read.ec != std::errc() || read.ptr != end || size < 0) return std::nullopt;
  return size;
}

bool begins(std::string_view text, std::string_view with) noexcept {
  return text.substr(0, with.size()) == with;
}

// Days and seconds are 32-bit, all other units 64-bit.
Type type_of_time(std::string_view format) noexcept {
  const bool narrow = format == "tdD" || format == "tts" || format == "ttm" || format == "tiM";
  const bool wide = format == "tdm" || format == "ttu" || format == "ttn" || format == "tDs" ||
                    format == "tDm" || format == "tDu" || format == "tDn" ||
                    begins(format, "tss:") || begins(format, "tsm:") || begins(format, "tsu:") ||
                    begins(format, "tsn:");
  if (narrow) return {Kind::numbers, c10::ScalarType::Int};
  if (wide) return {Kind::numbers, c10::ScalarType::Long};
  return {};
}

Type type_of_letter(char letter) noexcept {
  const DTypeRow* const row = find_dtype(&DTypeRow::arrow, std::string_view(&letter, 1));
  if (row != nullptr && row->kind != NumberKind::truth) {
    const c10::ScalarType dtype = scalar_type(row->dtype);
    if (dtype != c10::ScalarType::Undefined) return {Kind::numbers, dtype};
  }
  switch (letter) {
    case 'n': return {Kind::nulls};
    case 'b': return {Kind::bits, c10::ScalarType::Bool};
    case 'S': return {Kind::wide, c10::ScalarType::Int, 2};
    case 'I': return {Kind::wide, c10::ScalarType::Long, 4};
    case 'L': return {Kind::wide, c10::ScalarType::Long, 8};
    case 'u': return {Kind::text, c10::ScalarType::Undefined, 4};
    case 'U': return {Kind::text, c10::ScalarType::Undefined, 8};
    case 'z': return {Kind::binary, c10::ScalarType::Undefined, 4};
    case 'Z': return {Kind::binary, c10::ScalarType::Undefined, 8};
    default: return {};
  }
}

[[noreturn]] void fail_array(const Place& where, const char* what, std::int64_t number) {
  fail(Code::format, where, ": the Arrow array ", what, " ", number);
}

}  // namespace

const char* format_of(c10::ScalarType dtype) noexcept {
  const DTypeRow* const row = find_dtype(dtype_of(dtype));
  return row == nullptr || row->arrow.empty() ? nullptr : row->arrow.data();
}

std::ostream& operator<<(std::ostream& out, const Place& place) {
  if (place.above == nullptr) return out << "the record batch";
  std::vector<std::string_view> names;
  for (const Place* at = &place; at->above != nullptr; at = at->above) names.push_back(at->name);
  std::reverse(names.begin(), names.end());
  return out << "column " << show_path(names);
}

Type type_of(std::string_view format) noexcept {
  if (format.size() == 1) return type_of_letter(format[0]);
  if (format == "+s") return {Kind::fields};
  if (format == "vu") return {Kind::view};
  const bool list = begins(format, "+w:");
  if (list || begins(format, "w:")) {
    const std::optional<std::int64_t> size = size_behind(format, list ? 3 : 2);
    if (!size) return {};
    return {list ? Kind::list : Kind::bytes, c10::ScalarType::Byte, *size};
  }
  if (begins(format, "t")) return type_of_time(format);
  const bool views = format == "+vl" || format == "+vL";
  if (format == "+l" || format == "+L" || views) {
    return {views ? Kind::other : Kind::ragged, c10::ScalarType::Undefined, format == "+l" ? 4 : 8,
            ": lists of one length can be read, cast it to a fixed-size list first"};
  }
  if (begins(format, "d:")) {
    return {Kind::other, c10::ScalarType::Undefined, 0, ": cast it to float64 or int64 first"};
  }
  return {};
}

std::optional<std::string_view> metadata_value(const char* metadata, std::string_view key,
                                               const Place& where) {
  if (metadata == nullptr) return std::nullopt;
  const auto number = [&] {
    std::int32_t value;
    std::memcpy(&value, metadata, sizeof value);
    if (value < 0) fail(Code::format, where, ": a length of ", value, " in the metadata");
    metadata += sizeof value;
    return value;
  };
  const auto text = [&] {
    const auto length = static_cast<std::size_t>(number());
    const std::string_view result(metadata, length);
    metadata += length;
    return result;
  };
  for (std::int32_t left = number(); left > 0; --left) {
    const std::string_view name = text();
    const std::string_view value = text();
    if (name == key) return value;
  }
  return std::nullopt;
}

void check_schema(const Schema* schema, const Place& where) {
  if (schema == nullptr) fail(Code::format, where, ": a schema is NULL");
  if (schema->release == nullptr) fail(Code::format, where, ": the Arrow schema was released");
  if (schema->format == nullptr) fail(Code::format, where, ": the Arrow schema has no format");
  if (schema->n_children < 0) {
    fail(Code::format, where, ": the Arrow schema has ", schema->n_children, " children");
  }
  if (schema->n_children != 0 && schema->children == nullptr) {
    fail(Code::format, where, ": the Arrow schema has no list of children");
  }
}

void check_array(const Array* array, const Schema& schema, const Type& type, std::int64_t start,
                 std::int64_t count, const Place& where) {
  if (array == nullptr) fail(Code::format, where, ": an array is NULL");
  if (array->release == nullptr) fail(Code::format, where, ": the Arrow array was released");
  if (array->length < 0) fail_array(where, "has length", array->length);
  std::int64_t end;
  if (array->offset < 0 || __builtin_add_overflow(array->offset, array->length, &end)) {
    fail_array(where, "has offset", array->offset);
  }
  if (__builtin_add_overflow(start, count, &end) || end > array->length) {
    fail(Code::format, where, ": the Arrow array has length ", array->length, ", ", start, " + ",
         count, " elements are needed");
  }
  if (array->null_count < -1 || array->null_count > array->length) {
    fail_array(where, "has a null count of", array->null_count);
  }
  if (array->n_children != (schema.dictionary != nullptr ? 0 : schema.n_children) ||
      (array->n_children != 0 && array->children == nullptr)) {
    fail(Code::format, where, ": the Arrow array has ", array->n_children, " children, its schema ",
         schema.n_children);
  }
  std::int64_t buffers = 2;
  switch (type.kind) {
    case Kind::nulls: buffers = 0; break;
    case Kind::list:
    case Kind::fields: buffers = 1; break;
    case Kind::text:
    case Kind::binary: buffers = 3; break;
    default: break;
  }
  const bool enough = type.kind == Kind::view ? array->n_buffers >= 3 : array->n_buffers == buffers;
  if (!enough)
    fail_array(where, "has a number of buffers that its type has not:", array->n_buffers);
  if (buffers != 0 && array->buffers == nullptr)
    fail_array(where, "has no list of buffers, of", buffers);
}

}  // namespace td::arrow
