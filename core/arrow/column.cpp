#include "core/arrow/column.h"

#include "core/tensor/foreign.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace td::arrow {

namespace {

at::Tensor unpack_bits(const void* bits, std::int64_t first, std::int64_t count) {
  at::Tensor result = uninitialised({count}, at::kBool, c10::kCPU);
  const auto* from = static_cast<const std::uint8_t*>(bits);
  bool* to = result.data_ptr<bool>();
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = (from[(first + i) / 8] >> ((first + i) % 8) & 1) != 0;
  return result;
}

// The start of a part's values; `item` is their size in bytes.
const char* values_at(const Part& part, std::int64_t item, const Place& where) {
  const std::int64_t first = part.array->offset + part.start;
  std::int64_t end;
  if (__builtin_mul_overflow(first + part.count, item, &end)) {
    fail(Code::format, where, ": ", first + part.count, " elements of ", item,
         " bytes are more than can be addressed");
  }
  const auto* values = static_cast<const char*>(part.array->buffers[1]);
  if (values == nullptr && part.count != 0 && item != 0)
    fail(Code::format, where, ": the Arrow array has ", part.count, " elements and no values");
  return part.count == 0 || item == 0 ? nullptr : values + first * item;
}

template <class From, class To>
at::Tensor widened(const Part& part, SizesView sizes, c10::ScalarType dtype, const Place& where) {
  const char* from = values_at(part, sizeof(From), where);
  at::Tensor result = uninitialised(sizes, dtype, c10::kCPU);
  To* to = result.data_ptr<To>();
  for (std::int64_t i = 0; i < part.count; ++i) {
    From number;
    std::memcpy(&number, from + static_cast<std::size_t>(i) * sizeof number, sizeof number);
    if (sizeof(From) == sizeof(To) && number > static_cast<From>(std::numeric_limits<To>::max())) {
      fail(Code::dtype, where, ": ", number,
           " does not fit int64, and this libtorch has no uint64");
    }
    to[i] = static_cast<To>(number);
  }
  return result;
}

// Indices into an array's dictionary, as int64; 0 for nulls.
at::Tensor read_codes(const Field& field, const Part& part, const Place& where) {
  at::Tensor codes = read_numbers(field, part, false, where).to(at::kLong);
  if (part.valid.defined())
    codes = codes.masked_fill(spread(part.valid, codes.dim()).logical_not(), 0);
  const std::int64_t length = part.array->dictionary->length;
  const bool any = codes.numel() != 0 && (!part.valid.defined() || part.valid.any().item<bool>());
  if (!any) return codes;
  const auto least = codes.min().item<std::int64_t>(), most = codes.max().item<std::int64_t>();
  if (least < 0 || most >= length) {
    fail(Code::format, where, ": position ", least < 0 ? least : most, " in a dictionary of ",
         length, " values");
  }
  return codes;
}

Cells read_part(const Field& field, const Part& part, bool copy, const Place& where);

Cells read_encoded(const Field& field, const Part& part, const Place& where) {
  const Schema* schema = field.schema->dictionary;
  check_schema(schema, where);
  Field values{schema, type_of(schema->format)};
  if (schema->dictionary != nullptr || schema->n_children != 0 ||
      !(is_text(values.type.kind) || is_number(values.type.kind))) {
    fail(Code::unsupported, where, " is encoded with a dictionary of Arrow format \"",
         schema->format, "\", which cannot be read: decode it first");
  }
  const Array* array = part.array->dictionary;
  if (array == nullptr) fail(Code::format, where, ": the Arrow array has no dictionary");
  Part all{array, 0, array->length, array->length, {}, part.owner};
  check_array(array, *schema, values.type, 0, array->length, where);
  note_nulls(all, {}, where);
  const at::Tensor codes = read_codes(field, part, where);
  Cells known = read_part(values, all, false, where);
  Cells result{{}, part.valid, std::move(known.texts)};
  if (known.valid.defined() && known.valid.numel() != 0) {
    const at::Tensor there = known.valid.index_select(0, codes.flatten()).view(codes.sizes());
    result.valid =
        result.valid.defined() ? there.logical_and(spread(result.valid, there.dim())) : there;
  }
  if (is_text(values.type.kind)) {
    result.values = known.values.numel() == 0
                        ? codes
                        : known.values.index_select(0, codes.flatten()).view(codes.sizes());
    return result;
  }
  Sizes sizes(codes.sizes().begin(), codes.sizes().end());
  sizes.append(known.values.sizes().begin() + 1, known.values.sizes().end());
  result.values = known.values.size(0) == 0
                      ? at::zeros(sizes, known.values.options())
                      : known.values.index_select(0, codes.flatten()).view(sizes);
  return result;
}

Cells read_part(const Field& field, const Part& part, bool copy, const Place& where) {
  if (field.schema->dictionary != nullptr) return read_encoded(field, part, where);
  if (is_text(field.type.kind)) return read_texts(field, part, where);
  return {read_numbers(field, part, copy, where), part.valid, {}};
}

// The content of a column without record batches.
Cells no_cells(const Field& field) {
  const Schema* schema = field.schema->dictionary;
  const Type type =
      schema == nullptr || schema->format == nullptr ? field.type : type_of(schema->format);
  Sizes sizes{0};
  sizes.append(field.inner.begin(), field.inner.end());
  if (type.kind == Kind::bytes) sizes.push_back(type.size);
  const bool number = is_number(type.kind);
  Cells result{at::empty(sizes, number ? type.dtype : at::kLong), {}, {}};
  if (!number) result.texts.emplace_back();
  return result;
}

at::Tensor joined_valid(const std::vector<Cells>& cells) {
  std::int64_t dims = 0;
  for (const Cells& one : cells) dims = std::max(dims, one.valid.defined() ? one.valid.dim() : 0);
  if (dims == 0) return {};
  std::vector<at::Tensor> parts;
  for (const Cells& one : cells) {
    const auto sizes = one.values.sizes().slice(0, static_cast<std::size_t>(dims));
    parts.push_back(one.valid.defined() ? spread(one.valid, dims).expand(sizes)
                                        : at::ones(sizes, at::kBool));
  }
  return at::cat(parts);
}

}  // namespace

Sizes sizes_in(const Part& part, SizesView inner) {
  Sizes sizes{part.rows};
  sizes.append(inner.begin(), inner.end());
  return sizes;
}

at::Tensor spread(const at::Tensor& valid, std::int64_t dims) {
  Sizes sizes(valid.sizes().begin(), valid.sizes().end());
  sizes.resize(static_cast<std::size_t>(dims), 1);
  return valid.reshape(sizes);
}

void note_nulls(Part& part, SizesView inner, const Place& where) {
  const Array& array = *part.array;
  if (array.n_buffers == 0 || array.null_count == 0 || part.count == 0) return;
  if (array.buffers[0] == nullptr) {
    if (array.null_count < 0) return;
    fail(Code::format, where, ": the Arrow array has ", array.null_count,
         " nulls and does not say where");
  }
  const Sizes sizes = sizes_in(part, inner);
  at::Tensor there =
      unpack_bits(array.buffers[0], array.offset + part.start, part.count).view(sizes);
  if (there.all().item<bool>()) return;
  part.valid = part.valid.defined() ? there.logical_and(spread(part.valid, there.dim())) : there;
}

at::Tensor read_numbers(const Field& field, const Part& part, bool copy, const Place& where) {
  Sizes sizes = sizes_in(part, field.inner);
  const Type& type = field.type;
  if (type.kind == Kind::bits) {
    const Array& array = *part.array;
    if (part.count != 0 && array.buffers[1] == nullptr)
      fail(Code::format, where, ": the Arrow array has ", part.count, " elements and no values");
    return unpack_bits(array.buffers[1], array.offset + part.start, part.count).view(sizes);
  }
  if (type.kind == Kind::wide) {
    if (type.size == 2) return widened<std::uint16_t, std::int32_t>(part, sizes, type.dtype, where);
    if (type.size == 4) return widened<std::uint32_t, std::int64_t>(part, sizes, type.dtype, where);
    return widened<std::uint64_t, std::int64_t>(part, sizes, type.dtype, where);
  }
  const auto element = static_cast<std::int64_t>(c10::elementSize(type.dtype));
  std::int64_t item = element;
  if (type.kind == Kind::bytes) {
    item = type.size;
    sizes.push_back(item);
  }
  const char* data = values_at(part, item, where);
  // libtorch requires alignment, which Arrow only recommends.
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(element) == 0;
  if (copy || !aligned || data == nullptr)
    return from_bytes(data, static_cast<std::size_t>(part.count * item), type.dtype, sizes);
  return from_memory(const_cast<char*>(data), type.dtype, sizes, std::nullopt, c10::kCPU,
                     part.owner);
}

Cells read_cells(const Field& field, bool copy, const Place& where) {
  if (field.parts.empty()) return no_cells(field);
  if (field.parts.size() == 1) return read_part(field, field.parts[0], copy, where);
  std::vector<Cells> cells;
  for (const Part& part : field.parts) cells.push_back(read_part(field, part, copy, where));
  Cells result{{}, joined_valid(cells), {}};
  std::vector<at::Tensor> values;
  for (Cells& one : cells) {
    const auto before = static_cast<std::int64_t>(result.texts.size());
    values.push_back(before == 0 ? one.values : one.values.add(before));
    for (Plain& text : one.texts) result.texts.push_back(std::move(text));
  }
  result.values = at::cat(values);
  return result;
}

}  // namespace td::arrow
