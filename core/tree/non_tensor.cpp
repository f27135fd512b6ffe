#include "core/tree/non_tensor.h"

#include "core/tree/bytes_value.h"

#include "core/formats/format.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/traverse.h"

#include <ATen/ATen.h>
#include <c10/util/accumulate.h>

#include <algorithm>

namespace td {

namespace {

constexpr std::string_view bytes_member = "$bytes";
constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= n ? alphabet[word >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::optional<std::string> decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  std::uint32_t word = 0;
  std::size_t padding = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t value = alphabet.find(text[i]);
    if (text[i] == '=' && i + 2 >= text.size()) {
      ++padding;
      value = 0;
    } else if (value == std::string_view::npos || padding != 0) {
      return std::nullopt;
    }
    word = word << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 != 3) continue;
    for (std::size_t k = 0; k + padding < 3; ++k) {
      bytes += static_cast<char>(word >> (16 - 8 * k) & 255);
    }
    word = 0;
  }
  return bytes;
}

// The batch size of the dictionary that will hold an entry: the last existing one on the path.
Sizes batch_at(const TensorDict& td, Path path) {
  NodePtr node = td.node();
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (kind_below(node, path[i]) != EntryKind::dict) break;
    node = entry_of(node, path[i])->take_node();
  }
  return Sizes(node->batch().begin(), node->batch().end());
}

NodePtr require_value(const TensorDict& td, Path path) {
  const Value value = find_entry(td.node(), path);
  if (kind_of(value) != EntryKind::non_tensor) fail_kind(path, value, "non-tensor value");
  return value.node();
}

}  // namespace

void set_value(TensorDict& td, Path path, std::string_view json) { td.set_non_tensor(path, json); }

void set_value(TensorDict& td, Path path, Plain value) {
  check_path(path);
  td.set_non_tensor(path, std::move(value));
}

void set_values(TensorDict& td, Path path, std::string_view json) {
  check_path(path);
  set_values(td, path, read_value(json, "the values of " + show_path(path)));
}

void set_values(TensorDict& td, Path path, const Plain& lists) {
  td.set(path, TensorDict(non_tensor_of_lists(lists, batch_at(td, path), std::nullopt)));
}

std::string values_of(const TensorDict& td, Path path) {
  return non_tensor_json(*require_value(td, path));
}

namespace {

Plain shared_value(const NodePtr& node, Path path) {
  if (const Plain* one = one_value(*node)) return *one;
  const SizesView batch = node->batch();
  const bool none = std::find(batch.begin(), batch.end(), 0) != batch.end();
  const NonTensorNode* first = nullptr;
  if (!none) {
    visit_nodes(node, [&](const Node& one) {
      if (one.kind() != NodeKind::non_tensor) return;
      const auto& value = static_cast<const NonTensorNode&>(one);
      if (first == nullptr) first = &value;
      if (value.value() == first->value()) return;
      fail(Code::wrong_entry, show_path(path),
           " holds values that differ between the elements of the batch: read them as a list");
    });
  }
  if (first == nullptr) fail(Code::wrong_entry, show_path(path), " holds no non-tensor data");
  return first->value();
}

}  // namespace

std::string value_of(const TensorDict& td, Path path) {
  return json_text(shared_value(require_value(td, path), path));
}

namespace {

Plain plain_text(Path path, std::string_view text) {
  if (!is_utf8(text))
    fail(Code::invalid_argument, "the text for ", show_path(path), " is not UTF-8");
  return Plain::of_text(text);
}

std::string shared_text(const NodePtr& node, Path path) {
  const Plain value = shared_value(node, path);
  if (value.is(Plain::text)) return std::string(value.characters());
  std::string json = json_text(value);
  if (constexpr std::size_t most = 60; json.size() > most) {
    std::size_t end = most;
    while ((json[end] & 0xC0) == 0x80) --end;  // inside a character
    json = json.substr(0, end) + "...";
  }
  fail(Code::wrong_entry, show_path(path), " is not a text but ", json);
}

}  // namespace

void set_text(TensorDict& td, Path path, std::string_view text) {
  check_path(path);
  set_value(td, path, plain_text(path, text));
}

void set_texts(TensorDict& td, Path path, Span<const char* const> texts) {
  check_path(path);
  const Sizes batch = batch_at(td, path);
  const std::int64_t wanted = c10::multiply_integers(known_sizes(batch));
  if (batch.empty() || wanted != static_cast<std::int64_t>(texts.size())) {
    fail(Code::shape, texts.size(), " texts do not fit batch size ", show_sizes(batch), ": ",
         show_path(path), " needs ",
         batch.empty() ? "one for the whole batch" : "one for each element");
  }
  std::vector<c10::intrusive_ptr<NonTensorNode>> made;
  std::vector<const NonTensorNode*> values;
  for (const char* text : texts) {
    if (text == nullptr)
      fail(Code::invalid_argument, "text ", made.size(), " for ", show_path(path), " is NULL");
    made.push_back(
        c10::make_intrusive<NonTensorNode>(plain_text(path, text), SizesView(), std::nullopt));
    values.push_back(made.back().get());
  }
  td.set(path, TensorDict(make_non_tensor(values, at::arange(wanted, at::kLong).view(batch),
                                          std::nullopt)));
}

std::string text_in(const TensorDict& td, Path path) {
  return shared_text(require_value(td, path), path);
}

std::string text_in_row(const TensorDict& td, Path path, std::int64_t row) {
  return shared_text(TensorDict(require_value(td, path)).index({IndexItem::at(row)}).node(), path);
}

void spread_value(TensorDict& td, Path path) {
  const NodePtr node = require_value(td, path);
  if (node->kind() != NodeKind::non_tensor || node->batch().empty()) return;
  const std::vector<const NonTensorNode*> values = non_tensor_values(*node);
  const at::Tensor positions =
      at::arange(static_cast<std::int64_t>(values.size()), at::kLong).view(node->batch());
  td.set(path, TensorDict(make_non_tensor(values, positions, node->device())));
}

Plain plain_of_bytes(std::string_view bytes) {
  PlainBuilder made;
  made.open();
  made.name(bytes_member);
  made.add(Plain::of_text(encode(bytes)));
  made.close(true);
  return made.take();
}

void set_bytes(TensorDict& td, Path path, std::string_view bytes) {
  set_value(td, path, plain_of_bytes(bytes));
}

std::optional<std::string> bytes_of(const Plain& value) {
  const Plain* const text = value.find(bytes_member, Plain::text);
  if (text == nullptr || value.items().size() != 1) return std::nullopt;
  return decode(text->characters());
}

std::string bytes_of_value(const TensorDict& td, Path path) {
  std::optional<std::string> bytes = bytes_of(shared_value(require_value(td, path), path));
  if (!bytes) fail(Code::wrong_entry, show_path(path), " is non-tensor data, but not bytes");
  return *std::move(bytes);
}

}  // namespace td
