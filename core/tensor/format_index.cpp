#include "core/tensor/format_index.h"

#include "core/formats/json_text.h"
#include "core/tensor/sizes.h"

#include <ATen/ATen.h>

namespace td::format {

namespace {

class IndexReader {
 public:
  IndexReader(std::int64_t longest, const std::string& where) : longest_(longest), where_(where) {}

  std::vector<IndexItem> read(const Plain& json) const {
    if (!json.is(Plain::list) || (has_tag(json) && !is(json, "tuple"))) return {item(json)};
    const Plain& list = has_tag(json) ? content(json) : json;
    std::vector<IndexItem> items;
    for (const Plain& one : list.items()) items.push_back(item(one));
    return items;
  }

 private:
  static bool has_tag(const Plain& json) {
    return json.is(Plain::list) && !json.items().empty() && json.items()[0].is(Plain::text);
  }
  static bool is(const Plain& json, const char* tag) {
    return has_tag(json) && json.items()[0].characters() == tag;
  }

  [[noreturn]] void fail_form() const {
    fail(Code::format, where_, ": the index has an unexpected form");
  }

  const Plain& content(const Plain& json) const {
    if (json.items().size() < 2 || !json.items()[1].is(Plain::list)) fail_form();
    return json.items()[1];
  }

  std::optional<std::int64_t> number(const Plain& json) const {
    if (json.is(Plain::null)) return std::nullopt;
    if (!json.is(Plain::integer)) {
      fail(Code::format, where_, ": the index holds something that is not a position");
    }
    return json.integral();
  }

  IndexItem item(const Plain& json) const {
    if (json.is(Plain::null)) return IndexItem::none();
    if (json.is(Plain::boolean)) return IndexItem::boolean(json.truth());
    if (!json.is(Plain::list)) return IndexItem::at(*number(json));
    if (is(json, "ellipsis")) return IndexItem::ellipsis();
    if (is(json, "slice") || is(json, "range")) return stretch(json, is(json, "range"));
    if (is(json, "tensor")) {
      if (json.items().size() < 2) fail_form();
      return IndexItem::of(tensor(json.items()[1]));
    }
    const Plain* list = is(json, "list") ? &content(json) : &json;
    if (has_tag(*list)) {
      fail(Code::format, where_, ": the index holds ", json_text(list->items()[0]),
           ", which is unknown");
    }
    IndexItem result = IndexItem::of(tensor(*list));
    result.start = 1;
    return result;
  }

  // A slice, or the positions of a range.
  IndexItem stretch(const Plain& json, bool range) const {
    if (json.items().size() < 2 || !json.items()[1].is(Plain::object)) fail_form();
    std::optional<std::int64_t> numbers[3];
    std::size_t at = 0;
    for (const char* name : {"start", "stop", "step"}) {
      const Plain* found = json.items()[1].find(name);
      if (found != nullptr) numbers[at] = number(*found);
      ++at;
    }
    if (!range) return IndexItem::range(numbers[0], numbers[1], numbers[2]);
    const std::int64_t start = numbers[0].value_or(0), step = numbers[2].value_or(1);
    if (!numbers[1] || step == 0) fail_form();
    const std::int64_t stop = *numbers[1];
    std::vector<std::int64_t> positions;
    std::int64_t position = start;
    while (step > 0 ? position < stop : position > stop) {
      // A range may go from one end to the other and back.
      if (static_cast<std::int64_t>(positions.size()) / 2 > longest_) {
        fail(Code::format, where_, ": the index has a range longer than ", longest_);
      }
      positions.push_back(position);
      if (__builtin_add_overflow(position, step, &position)) break;
    }
    IndexItem result = IndexItem::of(at::tensor(positions, at::kLong));
    result.start = start;
    result.stop = stop;
    result.step = step;
    return result;
  }

  at::Tensor tensor(const Plain& json) const {
    std::vector<std::int64_t> sizes, numbers;
    std::size_t truths = 0;
    take(json, 0, sizes, numbers, truths);
    if (truths != 0 && truths != numbers.size()) fail_form();
    const at::Tensor result = at::tensor(numbers, at::kLong).view(sizes);
    return truths != 0 ? result.to(at::kBool) : result;
  }

  void take(const Plain& json, std::size_t depth, std::vector<std::int64_t>& sizes,
            std::vector<std::int64_t>& numbers, std::size_t& truths) const {
    if (json.is(Plain::list)) {
      if (depth == max_dims) fail_form();
      const auto n = static_cast<std::int64_t>(json.items().size());
      if (depth == sizes.size()) {
        if (!numbers.empty()) fail_form();
        sizes.push_back(n);
      } else if (sizes[depth] != n) {
        fail_form();
      }
      for (const Plain& one : json.items()) take(one, depth + 1, sizes, numbers, truths);
      return;
    }
    if (depth != sizes.size() || json.is(Plain::null)) fail_form();
    const bool is_truth = json.is(Plain::boolean);
    truths += is_truth ? 1 : 0;
    numbers.push_back(is_truth ? (json.truth() ? 1 : 0) : *number(json));
  }

  std::int64_t longest_;
  const std::string& where_;
};

std::string text_of(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "null";
}

void append_list(std::string& out, const at::Tensor& tensor) {
  if (tensor.dim() == 0) {
    const auto value = tensor.item<std::int64_t>();
    out += tensor.scalar_type() != at::kBool ? std::to_string(value)
           : value != 0                      ? "true"
                                             : "false";
    return;
  }
  out += '[';
  for (std::int64_t i = 0; i < tensor.size(0); ++i) {
    if (i != 0) out += ',';
    append_list(out, tensor[i]);
  }
  out += ']';
}

void append_item(std::string& out, const IndexItem& item) {
  const bool range = item.kind == IndexKind::tensor && item.step;
  switch (item.kind) {
    case IndexKind::integer: out += std::to_string(item.start.value_or(0)); return;
    case IndexKind::none: out += "null"; return;
    case IndexKind::boolean: out += item.start.value_or(0) != 0 ? "true" : "false"; return;
    case IndexKind::ellipsis: out += "[\"ellipsis\"]"; return;
    case IndexKind::tensor:
      if (range) break;
      out += item.start ? "[\"list\"," : "[\"tensor\",";
      append_list(out, item.tensor.detach().to(at::kCPU));
      out += item.start ? "]" : ",\"cpu\"]";
      return;
    case IndexKind::slice: break;
  }
  out += range ? "[\"range\"" : "[\"slice\"";
  out += ",{\"start\":" + text_of(item.start) + ",\"stop\":" + text_of(item.stop) +
         ",\"step\":" + text_of(item.step) + "}]";
}

}  // namespace

std::string index_text(const std::vector<IndexItem>& items) {
  std::string text = "[\"tuple\",[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != 0) text += ',';
    append_item(text, items[i]);
  }
  return text + "]]";
}

std::vector<IndexItem> read_index(const std::string& text, std::int64_t longest,
                                  const std::string& where) {
  // Nesting: the numbers of each dimension in an item of the tuple.
  return IndexReader(longest, where).read(read_json(text, where, max_dims + 4));
}

}  // namespace td::format
