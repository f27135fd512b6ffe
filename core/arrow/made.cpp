#include "core/arrow/made.h"

#include "core/base/error.h"
#include "core/base/quote.h"
#include "core/base/recycler.h"

#include <atomic>
#include <memory>

namespace td::arrow {

namespace {

struct SchemaHold {
  std::string name, format, metadata;
  std::vector<Schema> children;
  std::vector<Schema*> pointers;
};

// A receiver may have moved children out and marked them released; the others are released with the parent.
template <class Struct, class Hold>
void release_made(Struct* made) {
  if (made->release == nullptr) return;
  auto* hold = static_cast<Hold*>(made->private_data);
  for (Struct* child : hold->pointers) {
    if (child->release != nullptr) child->release(child);
  }
  delete hold;
  made->release = nullptr;
}

// What both structs of a column of numbers own: one block, freed with the later of the two.
struct NumbersHold {
  NumbersHold(std::string_view name, const void* values, const c10::Storage& storage)
      : at{nullptr, values}, storage(storage), name(name) {}
  static void* operator new(std::size_t) { return Recycler<sizeof(NumbersHold)>::take(); }
  static void operator delete(void* memory) { Recycler<sizeof(NumbersHold)>::give(memory); }

  void drop() noexcept {
    if (users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::atomic<int> users{2};
  const void* at[2];
  c10::Storage storage;
  std::string name;
};

void release_schema(Schema* schema) {
  if (schema->release == nullptr) return;
  static_cast<NumbersHold*>(schema->private_data)->drop();
  schema->release = nullptr;
}

void release_numbers(Array* array) {
  if (array->release == nullptr) return;
  auto* hold = static_cast<NumbersHold*>(array->private_data);
  hold->storage = {};  // the schema does not keep the tensor's memory alive
  hold->drop();
  array->release = nullptr;
}

// The address of empty buffers: some readers refuse null.
alignas(64) constexpr char no_bytes[8] = {};

template <class Struct>
void point_at(std::vector<Struct>& children, std::vector<Struct*>& pointers) {
  for (Struct& child : children) pointers.push_back(&child);
}

}  // namespace

Column::Column(std::string_view name, std::string_view format, std::int64_t length,
               std::int64_t nulls, Buffers buffers, std::vector<Column> children,
               std::string metadata) {
  auto schema = std::make_unique<SchemaHold>();
  Buffers array = std::move(buffers);
  schema->name = name;
  schema->format = format;
  schema->metadata = std::move(metadata);
  const std::size_t n = children.size();
  schema->children.resize(n);
  schema->pointers.reserve(n);
  array->children.resize(n);
  array->pointers.reserve(n);
  // Nothing can fail from here on.
  for (std::size_t i = 0; i < n; ++i) children[i].take(&schema->children[i], &array->children[i]);
  point_at(schema->children, schema->pointers);
  point_at(array->children, array->pointers);
  ArrayHold& held = *array;
  for (std::size_t i = 0; i < held.count; ++i) {
    if (held.at[i] == nullptr && held.made && !held.made[i].empty())
      held.at[i] = held.made[i].data();
    // The first buffer marks nulls; without it there are no nulls.
    if (held.at[i] == nullptr && i != 0) held.at[i] = no_bytes;
  }
  const auto count = static_cast<std::int64_t>(n);
  schema_ = {schema->format.c_str(),
             schema->name.c_str(),
             schema->metadata.empty() ? nullptr : schema->metadata.data(),
             nulls != 0 ? ARROW_FLAG_NULLABLE : 0,
             count,
             n == 0 ? nullptr : schema->pointers.data(),
             nullptr,
             release_made<Schema, SchemaHold>,
             nullptr};
  array_ = {length,
            nulls,
            0,
            static_cast<std::int64_t>(held.count),
            count,
            held.at,
            n == 0 ? nullptr : array->pointers.data(),
            nullptr,
            release_made<Array, ArrayHold>,
            nullptr};
  schema_.private_data = schema.release();
  array_.private_data = array.release();
}

Column::Column(std::string_view name, const char* format, std::int64_t length, const void* values,
               const c10::Storage& storage) {
  auto* hold = new NumbersHold(name, values == nullptr ? no_bytes : values, storage);
  schema_ = {format, hold->name.c_str(), nullptr, 0, 0, nullptr, nullptr, release_schema, hold};
  array_ = {length, 0, 0, 2, 0, hold->at, nullptr, nullptr, release_numbers, hold};
}

Column::~Column() {
  if (schema_.release != nullptr) schema_.release(&schema_);
  if (array_.release != nullptr) array_.release(&array_);
}

void Column::take(Schema* schema, Array* array) noexcept {
  *schema = schema_;
  *array = array_;
  schema_.release = nullptr;
  array_.release = nullptr;
}

Column struct_column(std::string_view name, std::int64_t length, std::vector<Column> children,
                     std::string metadata) {
  auto buffers = std::make_unique<ArrayHold>();
  buffers->count = 1;
  return Column(name, "+s", length, 0, std::move(buffers), std::move(children),
                std::move(metadata));
}

Column list_column(std::string_view name, std::int64_t size, std::int64_t length, Column child) {
  auto buffers = std::make_unique<ArrayHold>();
  buffers->count = 1;
  std::vector<Column> children;
  children.push_back(std::move(child));
  return Column(name, "+w:" + std::to_string(size), length, 0, std::move(buffers),
                std::move(children));
}

namespace {

template <class Offset>
void add_offset(std::string& offsets, std::int64_t end) {
  const auto as = static_cast<Offset>(end);
  offsets.append(reinterpret_cast<const char*>(&as), sizeof as);
}

}  // namespace

Column text_column(std::string_view name, const std::vector<std::optional<std::string_view>>& rows,
                   bool is_binary) {
  auto buffers = std::make_unique<ArrayHold>();
  buffers->count = 3;
  buffers->made = std::make_unique<std::string[]>(ArrayHold::most);
  std::string &valid = buffers->made[0], &offsets = buffers->made[1], &all = buffers->made[2];
  std::size_t bytes = 0;
  std::int64_t nulls = 0;
  for (const auto& row : rows) {
    bytes += row ? row->size() : 0;
    nulls += row ? 0 : 1;
  }
  const bool large = bytes > std::size_t{0x7fffffff};
  const auto add = large ? add_offset<std::int64_t> : add_offset<std::int32_t>;
  if (nulls != 0) valid.assign((rows.size() + 7) / 8, '\0');
  all.reserve(bytes);
  add(offsets, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]) all += *rows[i];
    if (rows[i] && nulls != 0) valid[i / 8] |= static_cast<char>(1 << i % 8);
    add(offsets, static_cast<std::int64_t>(all.size()));
  }
  return Column(name, is_binary ? (large ? "Z" : "z") : (large ? "U" : "u"),
                static_cast<std::int64_t>(rows.size()), nulls, std::move(buffers));
}

Column ragged_column(std::string_view name, const std::vector<std::int64_t>& lengths, Column child,
                     std::string metadata) {
  auto buffers = std::make_unique<ArrayHold>();
  buffers->count = 2;
  buffers->made = std::make_unique<std::string[]>(ArrayHold::most);
  std::int64_t end = 0;
  add_offset<std::int32_t>(buffers->made[1], 0);
  for (const std::int64_t length : lengths) {
    end += length;
    if (end > 0x7fffffff)
      fail(Code::unsupported, "the lists of column ", quote(name), " have too many elements");
    add_offset<std::int32_t>(buffers->made[1], end);
  }
  std::vector<Column> children;
  children.push_back(std::move(child));
  return Column(name, "+l", static_cast<std::int64_t>(lengths.size()), 0, std::move(buffers),
                std::move(children), std::move(metadata));
}

std::string metadata_text(const Pairs& pairs) {
  std::string text;
  const auto add_number = [&](std::size_t number) {
    const auto as = static_cast<std::int32_t>(number);
    text.append(reinterpret_cast<const char*>(&as), sizeof as);
  };
  add_number(pairs.size());
  for (const auto& [key, value] : pairs) {
    for (const std::string* one : {&key, &value}) {
      add_number(one->size());
      text += *one;
    }
  }
  return text;
}

}  // namespace td::arrow
