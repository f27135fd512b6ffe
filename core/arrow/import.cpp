// Imports Arrow's record batches as dictionaries.
#include "core/arrow/import.h"

#include "core/formats/json_text.h"
#include "core/tree/dense_node.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>

#include <deque>
#include <limits>
#include <sstream>

namespace td::arrow {

namespace {

template <class Offset>
std::int64_t list_size(const Part& part, std::int64_t known, std::int64_t* begin,
                       const Place& where) {
  const Array& array = *part.array;
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
  if (part.count == 0) return known;
  if (offsets == nullptr) fail(Code::format, where, ": an array of lists has no offsets");
  offsets += array.offset + part.start;
  const std::int64_t first = known < 0 ? std::int64_t{offsets[1]} - offsets[0] : known;
  for (std::int64_t i = 0; i < part.count; ++i) {
    const std::int64_t size = std::int64_t{offsets[i + 1]} - offsets[i];
    if (size != first || size < 0 || offsets[i] < 0) {
      fail(Code::format, where, " has lists of ", first, " and of ", size,
           " elements, and should have lists of one length");
    }
  }
  *begin = offsets[0];
  return first;
}

// The length of all lists, and where those of each part begin.
std::int64_t even_size(Field& field, const Place& where) {
  std::int64_t size = -1;
  for (Part& part : field.parts) {
    std::int64_t begin = 0;
    size = field.type.size == 4 ? list_size<std::int32_t>(part, size, &begin, where)
                                : list_size<std::int64_t>(part, size, &begin, where);
    part.start = begin;
  }
  return std::max<std::int64_t>(size, 0);
}

// Enters fixed-size lists down to a struct or column of values, collecting their sizes.
void enter_lists(Field& field, bool even, const Place& where) {
  for (;;) {
    const Schema& schema = *field.schema;
    field.type = type_of(schema.format);
    const bool ragged = field.type.kind == Kind::ragged;
    if (field.type.kind == Kind::other || (ragged && !even)) {
      fail(Code::unsupported, where, " is of Arrow format \"", schema.format,
           "\", which has no place in a dictionary", field.type.why);
    }
    const bool encoded = schema.dictionary != nullptr;
    if (encoded && field.type.kind != Kind::numbers && field.type.kind != Kind::wide)
      fail(Code::format, where, ": positions in a dictionary of Arrow format \"", schema.format,
           "\"");
    for (Part& part : field.parts) {
      check_array(part.array, schema, field.type, part.start, part.count, where);
      note_nulls(part, field.inner, where);
    }
    if (field.type.kind != Kind::list && !ragged) return;
    if (schema.n_children != 1)
      fail(Code::format, where, ": a list of ", schema.n_children, " columns");
    if (field.inner.size() + 2 >= max_dims)
      fail(Code::unsupported, where, " has more than ", max_dims, " dimensions");
    const std::int64_t size = ragged ? even_size(field, where) : field.type.size;
    for (Part& part : field.parts) {
      const std::int64_t first = part.array->offset + part.start;
      std::int64_t end;
      if (__builtin_mul_overflow(first + part.count, size, &end)) {
        fail(Code::format, where, ": ", first + part.count, " lists of ", size,
             " elements are more than can be counted");
      }
      if (!ragged) part.start = first * size;
      part.count *= size;
      part.array = part.array->children[0];
    }
    field.inner.push_back(size);
    field.schema = schema.children[0];
    check_schema(field.schema, where);
  }
}

class Importer {
 public:
  explicit Importer(const ImportOptions& options) : options_(options) {}

  TensorDict run(const Schema* schema, Parts parts) {
    const Place& root = places_.emplace_back();
    check_schema(schema, root);
    Field field{schema, type_of(schema->format), {}, std::move(parts)};
    if (field.type.kind != Kind::fields || schema->dictionary != nullptr) {
      fail(Code::wrong_entry, "an array of Arrow format \"", schema->format,
           "\" is no record batch: only a struct can be a dictionary");
    }
    std::int64_t rows = 0;
    for (Part& part : field.parts) {
      check_array(part.array, *schema, field.type, part.start, part.count, root);
      note_nulls(part, {}, root);
      if (__builtin_add_overflow(rows, part.rows, &rows))
        fail(Code::format, "the record batches have more rows than can be counted");
    }
    batch_ = {rows};
    auto node = c10::make_intrusive<DenseNode>(batch_, std::nullopt);
    open(std::move(field), node.get(), root);
    while (!open_.empty()) {
      Open& top = open_.back();
      if (top.next != top.field.schema->n_children) {
        visit(top, top.next++);
        continue;
      }
      put_values(*top.node, *top.field.schema, *top.place);
      open_.pop_back();
    }
    return TensorDict(NodePtr(std::move(node)));
  }

 private:
  // A struct whose columns are being read.
  struct Open {
    DenseNode* node;
    const Place* place;
    Field field;
    std::int64_t next;
  };

  void open(Field field, DenseNode* node, const Place& place) {
    const auto columns = static_cast<std::uint64_t>(field.schema->n_children);
    count_entries(columns, place);
    node->reserve(columns);
    open_.push_back({node, &place, std::move(field), 0});
  }

  void visit(const Open& above, std::int64_t column) {
    const Schema* schema = above.field.schema->children[column];
    check_schema(schema, *above.place);
    const std::string_view name = schema->name == nullptr ? "" : schema->name;
    check_path({name});
    Place here{above.place, name, above.place->depth + 1};
    Field field{schema, {}, above.field.inner, above.field.parts};
    for (Part& part : field.parts) {
      part.start += part.array->offset;
      part.array = part.array->children[column];
    }
    enter_lists(field, options_.even_lists, here);
    const Kind kind = field.type.kind;
    DenseNode& holder = *above.node;
    if (kind == Kind::fields) {
      auto node = c10::make_intrusive<DenseNode>(batch_, std::nullopt);
      DenseNode* raw = node.get();
      here.depth = put(holder, name, NodePtr(std::move(node)), here, "");
      open(std::move(field), raw, places_.emplace_back(here));
    } else if (kind == Kind::nulls) {
      put(holder, name, value_node(Plain()), here, "");
    } else {
      put_column(field, holder, name, here);
    }
  }

  NodePtr value_node(Plain value) const {
    return c10::make_intrusive<NonTensorNode>(std::move(value), batch_, std::nullopt);
  }

  void put_column(const Field& field, DenseNode& holder, std::string_view name, const Place& here) {
    Cells cells = read_cells(field, options_.copy, here);
    if (!cells.texts.empty() || is_text(field.type.kind)) {
      put(holder, name, text_node(cells), here, "");
      return;
    }
    if (!cells.valid.defined()) {
      put(holder, name, std::move(cells.values), here, "");
      return;
    }
    if (options_.nulls == Nulls::mask) {
      put(holder, name, std::move(cells.values), here, "");
      count_entries(1, here);
      put(holder, name, std::move(cells.valid), here, ".valid");
      return;
    }
    const at::Tensor missing = cells.valid.logical_not();
    if (options_.nulls == Nulls::refuse || !cells.values.is_floating_point()) {
      const bool real = cells.values.is_floating_point();
      fail(Code::unsupported, here, " has ", missing.sum().item<std::int64_t>(), " nulls: ask for ",
           real ? "NaN or " : "", "a mask, or fill them first");
    }
    put(holder, name,
        cells.values.masked_fill(spread(missing, cells.values.dim()),
                                 std::numeric_limits<double>::quiet_NaN()),
        here, "");
  }

  static NodePtr text_node(const Cells& cells) {
    at::Tensor positions = cells.values;
    std::vector<c10::intrusive_ptr<NonTensorNode>> nodes;
    std::vector<const NonTensorNode*> values;
    const auto add = [&](const Plain& value) {
      nodes.push_back(c10::make_intrusive<NonTensorNode>(value, SizesView(), std::nullopt));
      values.push_back(nodes.back().get());
    };
    for (const Plain& text : cells.texts) add(text);
    if (cells.valid.defined()) {
      positions = positions.masked_fill(spread(cells.valid.logical_not(), positions.dim()),
                                        static_cast<std::int64_t>(values.size()));
      add(Plain());
    }
    return make_non_tensor(values, positions, std::nullopt);
  }

  void put_values(DenseNode& holder, const Schema& schema, const Place& above) {
    const std::optional<std::string_view> text = metadata_value(schema.metadata, values_key, above);
    if (!text) return;
    std::ostringstream where;
    where << above << ": the non-tensor values in the metadata";
    const Plain values = read_value(*text, where.str());
    if (!values.is(Plain::object)) fail(Code::format, where.str(), " are no object");
    count_entries(values.items().size(), above);
    for (std::size_t i = 0; i < values.items().size(); ++i) {
      const std::string_view name = values.name(i);
      check_path({name});
      put(holder, name, value_node(values.items()[i]), {&above, name, above.depth + 1}, "");
    }
  }

  void count_entries(std::uint64_t more, const Place& where) {
    if (more > options_.max_entries - entries_)
      fail(Code::format, where, ": more than ", options_.max_entries, " columns");
    entries_ += more;
  }

  // Puts an entry at its name, creating nested dictionaries. Returns its depth.
  std::size_t put(DenseNode& holder, std::string_view name, Value value, const Place& where,
                  std::string_view ending) {
    DenseNode* at = &holder;
    std::size_t depth = where.depth;
    for (std::size_t end; !options_.separator.empty() &&
                          (end = name.find(options_.separator)) != std::string_view::npos;) {
      at = inner_dict(*at, name.substr(0, end), where);
      name.remove_prefix(end + options_.separator.size());
      ++depth;
    }
    if (depth > options_.max_depth)
      fail(Code::format, "nested deeper than ", options_.max_depth, " levels: ", where);
    std::string longer;
    std::string_view full = name;
    if (!ending.empty()) full = longer = std::string(name) + std::string(ending);
    const std::size_t before = at->size();
    at->put(full, std::move(value));
    if (at->size() == before) {
      fail(Code::key_exists, where, ending.empty() ? "" : ", its mask,",
           " has the name of another column");
    }
    return depth;
  }

  DenseNode* inner_dict(DenseNode& holder, std::string_view name, const Place& where) {
    if (const Value* found = holder.find(name)) {
      if (!is_dict(*found)) fail(Code::key_exists, where, ": ", quote(name), " is another column");
      return &entries_of(found->node());
    }
    count_entries(1, where);
    auto node = c10::make_intrusive<DenseNode>(batch_, std::nullopt);
    DenseNode* raw = node.get();
    holder.put(name, NodePtr(std::move(node)));
    return raw;
  }

  const ImportOptions& options_;
  Sizes batch_ = {};
  std::uint64_t entries_ = 0;
  std::deque<Place> places_ = {};  // of dictionaries; addresses stay stable
  std::vector<Open> open_ = {};
};

}  // namespace

Import::Import(Schema* schema, Array* array, const ImportOptions& options)
    : schema_(schema), array_(array), owner_(std::make_shared<Owned<Array>>()) {
  Part part{array, 0, array->length, array->length, {}, owner_};
  Parts parts;
  parts.push_back(std::move(part));
  td_ = Importer(options).run(schema, std::move(parts));
}

void Import::commit() noexcept {
  owner_->value = *array_;
  array_->release = nullptr;
  owner_.reset();  // frees the array unless a tensor uses it
  schema_->release(schema_);
  schema_->release = nullptr;
}

TensorDict import_parts(const Schema* schema, Parts parts, const ImportOptions& options) {
  return Importer(options).run(schema, std::move(parts));
}

}  // namespace td::arrow
