#include "core/bags/topic_decoder.h"

#include "core/bags/cdr.h"
#include "core/bags/samples.h"
#include "core/base/key.h"
#include "core/base/quote.h"
#include "core/pictures/decode.h"
#include "core/tensor/dtype.h"
#include "core/tree/non_tensor.h"

#include <ATen/ATen.h>

#include <limits>

namespace td::bags {

namespace {

constexpr std::size_t deepest = 32;
constexpr std::uint32_t most_fields = 10000;

Plain number_of(Kind kind, const char* from, bool swap) {
  switch (kind) {
    case Kind::boolean: return Plain::of_truth(*from != 0);
    case Kind::int8: return Plain::of_integer(static_cast<std::int8_t>(*from));
    case Kind::int16: return Plain::of_integer(Cdr::read<std::int16_t>(from, swap));
    case Kind::uint16: return Plain::of_integer(Cdr::read<std::uint16_t>(from, swap));
    case Kind::int32: return Plain::of_integer(Cdr::read<std::int32_t>(from, swap));
    case Kind::uint32: return Plain::of_integer(Cdr::read<std::uint32_t>(from, swap));
    case Kind::int64: return Plain::of_integer(Cdr::read<std::int64_t>(from, swap));
    case Kind::uint64: {
      const auto value = Cdr::read<std::uint64_t>(from, swap);
      return value > INT64_MAX ? Plain::of_digits(std::to_string(value))
                               : Plain::of_integer(static_cast<std::int64_t>(value));
    }
    case Kind::float32: return Plain::of_real(Cdr::read<float>(from, swap));
    case Kind::float64: return Plain::of_real(Cdr::read<double>(from, swap));
    default: return Plain::of_integer(static_cast<std::uint8_t>(*from));
  }
}

Plain text_of_bytes(std::string_view bytes) {
  return is_utf8(bytes) ? Plain::of_text(bytes) : plain_of_bytes(bytes);
}

bool is_number(Kind kind) { return kind != Kind::text && kind != Kind::message; }

Sizes with(Sizes sizes, std::uint64_t more) {
  sizes.push_back(static_cast<std::int64_t>(more));
  return sizes;
}

}  // namespace

// Where the values of a message go.
struct TopicDecoder::Filling {
  struct Goal {
    char* at = nullptr;
    char* end = nullptr;
    std::vector<Plain> texts;
  };
  std::vector<Goal> goals;  // of each column
};

TopicDecoder::TopicDecoder(const Topic& topic, std::string where, bool decode,
                           std::uint64_t max_bytes, std::uint32_t max_entries)
    : where_(std::move(where)),
      max_bytes_(max_bytes),
      max_entries_(max_entries == 0 ? most_fields : max_entries) {
  if (topic.encoding != "cdr") {
    fail(Code::unsupported, where_, ": its messages are encoded as ", quote(topic.encoding),
         "; \"cdr\" is read");
  }
  if (!topic.schema.empty() && topic.schema_encoding != "ros2msg") {
    fail(Code::unsupported, where_, ": its definition is written in ", quote(topic.schema_encoding),
         "; \"ros2msg\" is read");
  }
  if (topic.type.empty()) fail(Code::unsupported, where_, ": the file does not tell its type");
  const Schema schema = parse_schema(topic.type, topic.schema, where_);
  Field root;
  root.kind = Kind::message;
  add_node(schema, root, 0);
  const std::string type = short_name(topic.type);
  is_image_ = type == "sensor_msgs/Image";
  is_file_ = type == "sensor_msgs/CompressedImage";
  for (const Node& node : nodes_) {
    if (node.field.many == Field::sequence && node.field.kind != Kind::text) needs_all_ = true;
  }
  if (is_image_ || is_file_) {
    const Field& data = nodes_[child("data")].field;
    if (data.kind != Kind::uint8 || data.many != Field::sequence)
      fail(Code::unsupported, where_, ": its definition is another one than that of ", type);
    needs_all_ = false;
    nodes_[child("data")].is_whole = true;
  }
  is_file_ = is_file_ && decode;
}

std::size_t TopicDecoder::add_node(const Schema& schema, const Field& field, std::size_t depth) {
  if (depth > deepest || nodes_.size() > max_entries_) {
    fail(Code::format, where_, ": its definition has more than ", max_entries_,
         " fields, or is deeper than ", deepest);
  }
  const std::size_t index = nodes_.size();
  nodes_.emplace_back();
  nodes_[index].field = field;
  if (field.kind != Kind::message) return index;
  for (const Field& below : schema[field.type].fields) {
    const std::size_t child = add_node(schema, below, depth + 1);
    nodes_[index].children.push_back(child);
  }
  return index;
}

std::size_t TopicDecoder::child(const char* name) const {
  for (const std::size_t child : nodes_[0].children) {
    if (nodes_[child].field.name == name) return child;
  }
  fail(Code::unsupported, where_, ": its definition has no field ", quote(name));
}

bool TopicDecoder::has_field(std::string_view name) const noexcept {
  for (const std::size_t child : nodes_[0].children) {
    if (nodes_[child].field.name == name) return true;
  }
  return false;
}

void TopicDecoder::look(std::string_view message) {
  if (has_looked_ && !needs_all_) return;
  has_looked_ = true;
  if (is_image_ || is_file_) first_message_ = message;
  Cdr cdr(message, where_);
  count(0, cdr);
}

void TopicDecoder::count(std::size_t node, Cdr& cdr) {
  const Field& field = nodes_[node].field;
  std::uint64_t count = field.count;
  if (field.many == Field::sequence) {
    count = cdr.number<std::uint32_t>();
    nodes_[node].least = std::min(nodes_[node].least, count);
    nodes_[node].most = std::max(nodes_[node].most, count);
  }
  if (is_number(field.kind)) {
    cdr.take(count, item_bytes(field.kind));
    return;
  }
  // Each of them takes bytes, so the message limits the loop.
  for (std::uint64_t i = 0; i < count; ++i) {
    if (field.kind == Kind::text) {
      cdr.text();
    } else {
      for (const std::size_t child : nodes_[node].children) this->count(child, cdr);
    }
  }
}

bool TopicDecoder::all_fixed(std::size_t node) const {
  const Node& one = nodes_[node];
  if (one.field.kind == Kind::text) return true;
  if (!one.is_fixed() || one.is_whole) return false;
  for (const std::size_t child : one.children) {
    if (!all_fixed(child)) return false;
  }
  return true;
}

void TopicDecoder::settle() {
  if (is_image_) settle_image();
  for (const std::size_t child : nodes_[0].children) add_columns(child, {}, {}, false);
  if (is_file_ && !first_message_.empty()) {
    const Raw raw = raw_of(first_message_);
    if (is_picture(raw.data)) {
      const at::Tensor picture = decode_picture(raw.data, where_, max_bytes_);
      picture_ = nodes_[child("data")].column;
      columns_[picture_].is_tensor = true;
      columns_[picture_].dtype = picture.scalar_type();
      columns_[picture_].sizes.assign(picture.sizes().begin(), picture.sizes().end());
    }
  }
  first_message_.clear();
}

void TopicDecoder::add_columns(std::size_t node, const std::vector<std::string>& above, Sizes sizes,
                               bool in_list) {
  const Node& one = nodes_[node];
  std::vector<std::string> key = above;
  key.push_back(one.field.name);
  const bool has_own_rows = one.is_list() && one.is_fixed();
  if (is_number(one.field.kind)) {
    const bool is_tensor = one.is_fixed() && !one.is_whole;
    if (has_own_rows) sizes = with(sizes, one.count());
    return add_column(node, key, is_tensor, dtype_of(one.field.kind), sizes);
  }
  if (one.field.kind == Kind::text) {
    add_column(node, key, false, {}, {});
    columns_.back().has_texts = in_list;
    return;
  }
  if (one.is_list()) {
    // Messages in a list are rows of tensors if their number never changes, nor the lengths in them.
    if (!all_fixed(node) || one.count() == 0) {
      nodes_[node].is_whole = true;
      return add_column(node, key, false, {}, {});
    }
    sizes = with(sizes, one.count());
    in_list = true;
  }
  const std::vector<std::size_t> children = one.children;
  for (const std::size_t child : children) add_columns(child, key, sizes, in_list);
}

void TopicDecoder::add_column(std::size_t node, const std::vector<std::string>& key, bool is_tensor,
                              c10::ScalarType dtype, const Sizes& sizes) {
  if (nodes_[node].column >= 0) return;  // a picture
  if (sizes.size() + 1 > max_dims) fail(Code::format, where_, ": lists are nested too deep");
  nodes_[node].column = static_cast<std::int64_t>(columns_.size());
  if (!is_tensor && is_number(nodes_[node].field.kind)) nodes_[node].is_whole = true;
  columns_.push_back({key, is_tensor, false, is_tensor ? dtype : c10::ScalarType::Undefined,
                      is_tensor ? sizes : Sizes()});
}

std::vector<ColumnRows> TopicDecoder::make_rows(std::int64_t count) const {
  std::vector<ColumnRows> rows(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].is_tensor) {
      Sizes sizes = columns_[i].sizes;
      sizes.insert(sizes.begin(), count);
      count_elements({sizes.data(), sizes.size()});
      rows[i].tensor = at::empty(sizes, columns_[i].dtype);
    } else {
      rows[i].values.resize(static_cast<std::size_t>(count));
    }
  }
  return rows;
}

void TopicDecoder::decode(std::string_view message, std::vector<ColumnRows>& rows,
                          std::int64_t row) const {
  Filling into;
  into.goals.resize(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const at::Tensor& tensor = rows[i].tensor;
    if (!tensor.defined() || tensor.size(0) == 0) continue;
    const std::size_t bytes = tensor.nbytes() / static_cast<std::size_t>(tensor.size(0));
    into.goals[i].at =
        static_cast<char*>(tensor.data_ptr()) + static_cast<std::size_t>(row) * bytes;
    into.goals[i].end = into.goals[i].at + bytes;
  }
  Cdr cdr(message, where_);
  for (const std::size_t child : nodes_[0].children) fill(child, cdr, into);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Filling::Goal& goal = into.goals[i];
    if (static_cast<std::int64_t>(i) == picture_) continue;
    if (goal.at != goal.end)
      fail(Code::format, where_, ": a message has fewer values than those before");
    if (!columns_[i].is_tensor) {
      // Of one text or value, or of a list of texts.
      rows[i].values[static_cast<std::size_t>(row)] = columns_[i].has_texts
                                                          ? Plain::of_list(std::move(goal.texts))
                                                          : std::move(goal.texts.at(0));
    }
  }
  if (picture_ < 0) return;
  const at::Tensor to = rows[static_cast<std::size_t>(picture_)].tensor.select(0, row);
  if (is_image_) return fill_image(message, to);
  const at::Tensor picture = decode_picture(raw_of(message).data, where_, max_bytes_);
  if (picture.sizes() != to.sizes() || picture.scalar_type() != to.scalar_type()) {
    fail(Code::format, where_, ": a picture is ", show_sizes(picture.sizes()),
         ", the first one is ", show_sizes(to.sizes()));
  }
  to.copy_(picture);
}

void TopicDecoder::fill(std::size_t node, Cdr& cdr, Filling& into) const {
  const Node& one = nodes_[node];
  const Field& field = one.field;
  if (one.column >= 0 && one.column == picture_) {
    cdr.take(cdr.number<std::uint32_t>(), 1);
    return;
  }
  if (one.is_whole || field.kind == Kind::text) {
    PlainBuilder builder;
    value(node, cdr, builder);
    std::vector<Plain>& texts = into.goals[static_cast<std::size_t>(one.column)].texts;
    texts.push_back(builder.take());
    return;
  }
  const std::uint64_t count =
      field.many == Field::sequence ? cdr.number<std::uint32_t>() : field.count;
  if (field.many == Field::sequence && count != one.most)
    fail(Code::format, where_, ": ", quote(field.name), " has ", count, " elements, and had ",
         one.most);
  if (field.kind == Kind::message) {
    for (std::uint64_t i = 0; i < count; ++i) {
      for (const std::size_t child : one.children) fill(child, cdr, into);
    }
    return;
  }
  Filling::Goal& goal = into.goals[static_cast<std::size_t>(one.column)];
  const char* from = cdr.take(count, item_bytes(field.kind));
  const std::uint64_t bytes = count * c10::elementSize(dtype_of(field.kind));
  if (bytes > static_cast<std::uint64_t>(goal.end - goal.at))
    fail(Code::format, where_, ": a message has more values than those before");
  convert(field.kind, from, count, cdr.swap(), goal.at);
  goal.at += bytes;
}

void TopicDecoder::element(const Node& node, Cdr& cdr, PlainBuilder& into) const {
  if (node.field.kind == Kind::text) return into.add(text_of_bytes(cdr.text()));
  if (node.field.kind != Kind::message)
    return into.add(
        number_of(node.field.kind, cdr.take(1, item_bytes(node.field.kind)), cdr.swap()));
  into.open();
  for (const std::size_t child : node.children) {
    into.name(nodes_[child].field.name);
    value(child, cdr, into);
  }
  into.close(true);
}

void TopicDecoder::value(std::size_t node, Cdr& cdr, PlainBuilder& into) const {
  const Node& one = nodes_[node];
  if (!one.is_list()) return element(one, cdr, into);
  const std::uint64_t count =
      one.field.many == Field::sequence ? cdr.number<std::uint32_t>() : one.field.count;
  if (one.field.kind == Kind::uint8)
    return into.add(plain_of_bytes({cdr.take(count, 1), static_cast<std::size_t>(count)}));
  into.open();
  for (std::uint64_t i = 0; i < count; ++i) element(one, cdr, into);
  into.close(false);
}

}  // namespace td::bags
