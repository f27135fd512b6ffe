// core/bags/topic_decoder.h: the messages of one topic as rows: which field becomes which entry, and its values.
#pragma once

#include "core/bags/bag.h"
#include "core/bags/message_type.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace td::bags {

class Cdr;

// A field that becomes an entry.
struct Column {
  std::vector<std::string> key;  // below the topic
  bool is_tensor = false;
  bool has_texts = false;  // a list of them, of messages in a list
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  Sizes sizes;  // of a row
};

// Rows of a column: a tensor, or a list of values.
struct ColumnRows {
  at::Tensor tensor;
  std::vector<Plain> values;
};

// Look at messages first, then settle; decode() is for several threads.
class TopicDecoder {
 public:
  // Code::unsupported for a topic that cannot be decoded. `decode`: files of pictures become tensors; `max_bytes` limits
  // each, `max_entries` the fields.
  TopicDecoder(const Topic& topic, std::string where, bool decode, std::uint64_t max_bytes,
               std::uint32_t max_entries);

  // Whether all messages tell what the columns are, or the first one does: it has no lists.
  bool needs_all() const noexcept { return needs_all_; }
  void look(std::string_view message);
  void settle();

  std::size_t fields() const noexcept { return nodes_.size(); }
  // At the top of the message.
  bool has_field(std::string_view name) const noexcept;
  const std::vector<Column>& columns() const noexcept { return columns_; }
  // Empty rows for decode().
  std::vector<ColumnRows> make_rows(std::int64_t count) const;
  void decode(std::string_view message, std::vector<ColumnRows>& rows, std::int64_t row) const;

 private:
  // A field in its place in the message; arrays of messages have their fields once.
  struct Node {
    Field field;
    std::vector<std::size_t> children;
    std::uint64_t least = UINT64_MAX, most = 0;  // elements that were seen, of a sequence
    std::int64_t column = -1;
    bool is_whole = false;  // all below it is one value

    bool is_list() const noexcept { return field.many != Field::one; }
    bool is_fixed() const noexcept { return field.many != Field::sequence || least == most; }
    std::uint64_t count() const noexcept {
      return field.many == Field::sequence ? most : field.count;
    }
  };
  struct Filling;
  struct Raw {
    std::uint64_t height = 0, width = 0, step = 0, big_endian = 0;
    std::string encoding;
    std::string_view data;
  };

  std::size_t add_node(const Schema& schema, const Field& field, std::size_t depth);
  bool all_fixed(std::size_t node) const;
  void add_columns(std::size_t node, const std::vector<std::string>& above, Sizes sizes,
                   bool in_list);
  void add_column(std::size_t node, const std::vector<std::string>& key, bool is_tensor,
                  c10::ScalarType dtype, const Sizes& sizes);
  void count(std::size_t node, Cdr& cdr);
  void fill(std::size_t node, Cdr& cdr, Filling& into) const;
  void value(std::size_t node, Cdr& cdr, PlainBuilder& into) const;
  void element(const Node& node, Cdr& cdr, PlainBuilder& into) const;

  std::size_t child(const char* name) const;
  Raw raw_of(std::string_view message) const;
  void settle_image();
  void fill_image(std::string_view message, const at::Tensor& to) const;

  std::string where_;  // the file and the topic
  std::uint64_t max_bytes_;
  std::uint32_t max_entries_;
  std::vector<Node> nodes_;  // the first is the message
  std::vector<Column> columns_;
  bool needs_all_ = false, has_looked_ = false;
  bool is_image_ = false, is_file_ = false;  // a raw picture; one in a file
  std::int64_t picture_ = -1;                // its column
  Raw first_;
  int item_ = 1;  // bytes of a sample
  Kind sample_ = Kind::uint8;
  std::string first_message_;
};

}  // namespace td::bags
