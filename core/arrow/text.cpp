// Reads columns of texts and bytes.
#include "core/arrow/column.h"
#include "core/base/key.h"
#include "core/formats/json_text.h"
#include "core/tree/non_tensor.h"

#include <ATen/ATen.h>

#include <cstring>
#include <sstream>

namespace td::arrow {

namespace {

template <class T>
T read_at(const void* from, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(from) + i * static_cast<std::int64_t>(sizeof value),
              sizeof value);
  return value;
}

// Texts concatenated in one buffer, with offsets.
template <class Offset>
class Joined {
 public:
  Joined(const Part& part, const Place& where) : array_(*part.array), where_(where) {
    if (part.count != 0 && array_.buffers[1] == nullptr)
      fail(Code::format, where, ": the Arrow array has ", part.count, " texts and no offsets");
  }

  std::string_view operator()(std::int64_t i) const {
    const auto begin = read_at<Offset>(array_.buffers[1], i);
    const auto end = read_at<Offset>(array_.buffers[1], i + 1);
    const auto* data = static_cast<const char*>(array_.buffers[2]);
    if (begin < 0 || end < begin || (data == nullptr && end != begin)) {
      fail(Code::format, where_, ": element ", i, " lies from byte ", begin, " to ", end,
           data == nullptr ? " of no text" : "");
    }
    if (end == begin) return {};
    return {data + begin, static_cast<std::size_t>(end - begin)};
  }

 private:
  const Array& array_;
  const Place& where_;
};

// Short texts inline, others in one of several buffers.
class Views {
 public:
  Views(const Part& part, const Place& where) : array_(*part.array), where_(where) {
    const bool bare = array_.buffers[1] == nullptr ||
                      (array_.n_buffers > 3 && array_.buffers[array_.n_buffers - 1] == nullptr);
    if (part.count != 0 && bare)
      fail(Code::format, where, ": the Arrow array has ", part.count, " texts and no views");
  }

  std::string_view operator()(std::int64_t i) const {
    constexpr std::int64_t view_bytes = 16, most_in_place = 12;
    const char* view = static_cast<const char*>(array_.buffers[1]) + i * view_bytes;
    const auto length = read_at<std::int32_t>(view, 0);
    if (length < 0) fail(Code::format, where_, ": element ", i, " has length ", length);
    if (length <= most_in_place) return {view + 4, static_cast<std::size_t>(length)};
    const std::int64_t number = read_at<std::int32_t>(view, 2);
    const std::int64_t at = read_at<std::int32_t>(view, 3);
    const std::int64_t buffers = array_.n_buffers - 3;
    const char* data = number < 0 || number >= buffers
                           ? nullptr
                           : static_cast<const char*>(array_.buffers[2 + number]);
    const std::int64_t bytes =
        data == nullptr ? 0 : read_at<std::int64_t>(array_.buffers[array_.n_buffers - 1], number);
    if (data == nullptr || at < 0 || at > bytes - length) {
      fail(Code::format, where_, ": element ", i, " lies at byte ", at, " of buffer ", number,
           ", which has ", bytes, " bytes");
    }
    return {data + at, static_cast<std::size_t>(length)};
  }

 private:
  const Array& array_;
  const Place& where_;
};

Plain value_of_text(std::string_view text, const Type& type, bool json, std::int64_t row,
                    const Place& where) {
  if (type.kind == Kind::binary) return plain_of_bytes(text);
  if (!is_utf8(text)) fail(Code::format, where, ": element ", row, " is not UTF-8");
  if (!json) return Plain::of_text(text);
  std::ostringstream shown;
  shown << where;
  return read_value(text, shown.str());
}

template <class Texts>
void read_all(const Texts& texts, const Field& field, const Part& part, const Place& where,
              Cells& into) {
  const std::optional<std::string_view> extension =
      metadata_value(field.schema->metadata, extension_key, where);
  const bool json = extension && *extension == json_extension;
  const at::Tensor there =
      part.valid.defined()
          ? spread(part.valid, into.values.dim()).expand_as(into.values).contiguous()
          : at::Tensor();
  const bool* valid = there.defined() ? there.data_ptr<bool>() : nullptr;
  const std::int64_t first = part.array->offset + part.start;
  for (std::int64_t i = 0; i < part.count; ++i) {
    const bool null = valid != nullptr && !valid[i];
    into.texts.push_back(null ? Plain()
                              : value_of_text(texts(first + i), field.type, json, i, where));
  }
}

}  // namespace

Cells read_texts(const Field& field, const Part& part, const Place& where) {
  const Sizes sizes = sizes_in(part, field.inner);
  if (part.count == 0 && part.rows != 0)
    fail(Code::unsupported, where, " has texts in lists of length 0, which cannot be read");
  Cells result{at::arange(part.count, at::kLong).view(sizes), part.valid, {}};
  if (field.type.kind == Kind::view) {
    read_all(Views(part, where), field, part, where, result);
  } else if (field.type.size == 4) {
    read_all(Joined<std::int32_t>(part, where), field, part, where, result);
  } else {
    read_all(Joined<std::int64_t>(part, where), field, part, where, result);
  }
  return result;
}

}  // namespace td::arrow
