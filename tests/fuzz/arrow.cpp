// Tables of Arrow of any structure. The pointers of a producer cannot be checked, so the bytes say what a table is made
// of whose buffers are as large as it says, or larger; everything else may be wrong.
#include "fuzz.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>

namespace {

struct Bytes {
  const std::uint8_t *at, *end;
  unsigned next() { return at == end ? 0 : *at++; }
};

constexpr std::int64_t most_elements = 64;
constexpr std::size_t room =
    1 << 12;  // of any buffer: more than 64 elements of 16 bytes at any offset
constexpr const char *formats[] = {
    "n",    "b",    "c",  "C",  "s",    "S",  "i",   "I",    "l",     "L",
    "e",    "f",    "g",  "u",  "U",    "z",  "Z",   "vu",   "w:3",   "w:0",
    "+s",   "+w:2", "+s", "+w", "+w:0", "+l", "tdD", "tsu:", "tDn",   "?",
    "+w:3", "",     "+s", "+r", "+m",   "u",  "+s",  "+w:1", "d:4,2", "+w:2147483647"};

// Everything that one input is made of.
struct Made {
  std::vector<std::unique_ptr<char[]>> buffers;
  std::vector<std::unique_ptr<const void *[]>> buffer_lists;
  std::vector<std::unique_ptr<ArrowSchema>> schemas;
  std::vector<std::unique_ptr<ArrowArray>> arrays;
  std::vector<std::unique_ptr<ArrowSchema *[]>> schema_lists;
  std::vector<std::unique_ptr<ArrowArray *[]>> array_lists;
  std::deque<std::string> texts;
  int released = 0;
};

std::string metadata(std::string_view key, std::string_view value) {
  std::string text;
  const auto number = [&](std::int32_t n) {
    text.append(reinterpret_cast<const char *>(&n), sizeof n);
  };
  number(1);
  for (const std::string_view one : {key, value}) {
    number(static_cast<std::int32_t>(one.size()));
    text += one;
  }
  return text;
}

void release_schema(ArrowSchema *schema) {
  ++static_cast<Made *>(schema->private_data)->released;
  schema->release = nullptr;
}
void release_array(ArrowArray *array) {
  ++static_cast<Made *>(array->private_data)->released;
  array->release = nullptr;
}

// Bytes of the input, again and again. Offsets and views stay inside the text that is there.
const void *buffer(Made &made, Bytes &from, const char *format, int number) {
  auto bytes = std::make_unique<char[]>(room);
  const std::uint8_t seed = static_cast<std::uint8_t>(from.next());
  for (std::size_t i = 0; i < room; ++i)
    bytes[i] = static_cast<char>((i * (seed | 1)) >> (seed % 7));
  if (number == 1 && (*format == 'u' || *format == 'z')) {
    auto *offsets = reinterpret_cast<std::int32_t *>(bytes.get());
    for (std::size_t i = 0; i < room / 4; ++i)
      offsets[i] = static_cast<std::int32_t>(
          seed == 9 ? (i * 7) % 300 - 3 : std::min<std::size_t>(i * (seed % 4), room));
  } else if (number == 1 && (*format == 'U' || *format == 'Z')) {
    auto *offsets = reinterpret_cast<std::int64_t *>(bytes.get());
    for (std::size_t i = 0; i < room / 8; ++i)
      offsets[i] = static_cast<std::int64_t>(
          seed == 9 ? (i * 7) % 300 - 3 : std::min<std::size_t>(i * (seed % 4), room));
  } else if (number == 2 && (*format == 'u' || *format == 'U')) {
    for (std::size_t i = 0; i < room; ++i)
      bytes[i] = static_cast<char>(seed == 7 ? 0xff : 'a' + bytes[i] % 20);
  } else if (*format == 'v' && number == 3) {
    auto *lengths = reinterpret_cast<std::int64_t *>(bytes.get());
    for (std::size_t i = 0; i < room / 8; ++i) lengths[i] = seed % 2 == 0 ? room : seed;
  }
  made.buffers.push_back(std::move(bytes));
  return made.buffers.back().get();
}

std::int64_t odd_number(Bytes &from, std::int64_t good) {
  switch (from.next() % 24) {
    case 1: return -1;
    case 2: return INT64_MAX;
    case 3: return INT64_MIN;
    case 4: return good + 1;
    case 5: return good - 1;
    default: return good;
  }
}

void make(Made &made, Bytes &from, int depth, std::int64_t length, ArrowSchema *&schema,
          ArrowArray *&array) {
  made.schemas.push_back(std::make_unique<ArrowSchema>());
  made.arrays.push_back(std::make_unique<ArrowArray>());
  schema = made.schemas.back().get();
  array = made.arrays.back().get();
  ArrowSchema *const own_schema = schema;
  ArrowArray *const own_array = array;
  const char *format =
      depth == 0 ? "+s" : formats[from.next() % (sizeof formats / sizeof *formats)];
  const std::int64_t offset = from.next() % 9 == 0 ? 3 : 0;
  static constexpr const char *names[] = {"a", "b", "c.d", "", "c.e", "a.b", "\xff", "f", "g", "h"};
  own_schema->format = format;
  own_schema->name = depth == 0 ? "" : names[from.next() % 10];
  own_schema->release = release_schema;
  own_schema->private_data = &made;
  own_array->release = release_array;
  own_array->private_data = &made;
  own_array->length = length;
  own_array->offset = offset;
  own_array->null_count = from.next() % 3 == 0 ? -1 : 0;

  const bool list = std::strncmp(format, "+w:", 3) == 0;
  const int children = std::strcmp(format, "+s") == 0 ? static_cast<int>(from.next() % 4)
                       : list                         ? 1
                                                      : 0;
  auto schemas = std::make_unique<ArrowSchema *[]>(4);
  auto arrays = std::make_unique<ArrowArray *[]>(4);
  std::int64_t below = length + offset;
  if (list) below = std::min(most_elements, below * std::atoi(format + 3));
  for (int i = 0; i < children; ++i) {
    if (depth > 4) {
      schemas[i] = nullptr;
      arrays[i] = nullptr;
    } else {
      make(made, from, depth + 1, below, schemas[i], arrays[i]);
    }
  }
  own_schema->n_children = own_array->n_children = children;
  own_schema->children = schemas.get();
  own_array->children = arrays.get();
  made.schema_lists.push_back(std::move(schemas));
  made.array_lists.push_back(std::move(arrays));

  int count = 2;
  if (*format == 'n') count = 0;
  if (*format == '+') count = 1;
  if (*format == 'u' || *format == 'U' || *format == 'z' || *format == 'Z') count = 3;
  if (*format == 'v') count = 4;
  auto buffers = std::make_unique<const void *[]>(8);
  for (int i = 0; i < count; ++i)
    buffers[i] = from.next() % 16 == 0 ? nullptr : buffer(made, from, format, i);
  if (own_array->null_count == 0 && count != 0 && from.next() % 2 == 0) buffers[0] = nullptr;
  own_array->buffers = buffers.get();
  own_array->n_buffers = count;
  made.buffer_lists.push_back(std::move(buffers));

  if (depth > 0 && depth < 4 && from.next() % 12 == 0)
    make(made, from, 4, most_elements, own_schema->dictionary, own_array->dictionary);
  if (from.next() % 6 == 0) {
    static constexpr const char *keys[] = {"tensordict.non_tensor", "ARROW:extension:name",
                                           "other"};
    static constexpr const char *values[] = {"{\"v\":1,\"a\":[null]}", "{\"v\":", "arrow.json",
                                             "[]", ""};
    made.texts.push_back(metadata(keys[from.next() % 3], values[from.next() % 5]));
    own_schema->metadata = made.texts.back().data();
  }
  // A number of buffers in a list, or of bytes in one, that is too large cannot be found out.
  switch (from.next() % 40) {
    case 1: own_array->n_buffers = *format == 'v' ? count + 1 : odd_number(from, count); break;
    case 2: own_array->n_children = odd_number(from, children); break;
    case 3: own_schema->n_children = odd_number(from, children); break;
    case 4: own_array->buffers = nullptr; break;
    case 5: own_array->children = nullptr; break;
    case 6: own_schema->children = nullptr; break;
    case 7: own_schema->format = nullptr; break;
    case 8: own_schema->name = nullptr; break;
    case 9: own_schema->release = nullptr; break;
    case 10: own_array->release = nullptr; break;
    case 11: own_array->offset = -1; break;
    case 12: own_array->null_count = odd_number(from, 1); break;
    case 13: own_array->length = -1; break;
    default: break;
  }
}

td_from_arrow_options options_from(Bytes &from) {
  td_from_arrow_options options = TD_FROM_ARROW_OPTIONS_INIT;
  const unsigned bits = from.next();
  options.flags = bits & TD_FROM_ARROW_COPY;
  options.nulls = static_cast<td_arrow_nulls_kind>((bits >> 1) % 3);
  options.separator = (bits & 8) != 0 ? "." : nullptr;
  options.max_depth = (bits & 16) != 0 ? 2 : 0;
  options.max_entries = (bits & 32) != 0 ? 3 : 0;
  return options;
}

// What was read can be lent and read again, also in parts.
void lends_again(const td_tensordict *td) {
  ArrowSchema schema;
  ArrowArray array;
  if (!fuzz::done(td_to_arrow(td, nullptr, &schema, &array))) {
    FUZZ_CHECK(schema.release == nullptr && array.release == nullptr);
    return;
  }
  const std::int64_t rows = array.length;
  fuzz::Dict again;
  FUZZ_DO(td_from_arrow(&schema, &array, nullptr, again.out()));
  fuzz::same_leaves(td, again.get());
  if (rows == 0) return;
  ArrowArrayStream stream;
  fuzz::Dict parts;
  FUZZ_DO(td_to_arrow_stream(td, rows / 3 + 1, nullptr, &stream));
  FUZZ_DO(td_from_arrow_stream(&stream, nullptr, parts.out()));
  fuzz::same_leaves(td, parts.get());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Bytes from{data, data + size};
  const td_from_arrow_options options = options_from(from);
  Made made;
  ArrowSchema *schema = nullptr;
  ArrowArray *array = nullptr;
  make(made, from, 0, static_cast<std::int64_t>(from.next() % 8), schema, array);
  const ArrowSchema schema_before = *schema;
  const ArrowArray array_before = *array;
  {
    fuzz::Dict td;
    if (fuzz::done(td_from_arrow(schema, array, &options, td.out()))) {
      FUZZ_CHECK(schema->release == nullptr && array->release == nullptr);
      fuzz::read_all(td.get());
      lends_again(td.get());
    } else {
      FUZZ_CHECK(std::memcmp(schema, &schema_before, sizeof *schema) == 0);
      FUZZ_CHECK(std::memcmp(array, &array_before, sizeof *array) == 0);
      FUZZ_CHECK(made.released == 0);
      return 0;
    }
  }
  FUZZ_CHECK(made.released == 2);
  return 0;
}
