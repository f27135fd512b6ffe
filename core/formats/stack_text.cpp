#include "core/formats/stack_text.h"

#include <charconv>
#include <cstring>

namespace td::format {

namespace {

bool take(std::string_view& text, std::string_view part) noexcept {
  if (text.substr(0, part.size()) != part) return false;
  text.remove_prefix(part.size());
  return true;
}

// The position after the JSON string that starts at `at`; npos if it does not end.
std::size_t end_of_quoted(std::string_view text, std::size_t at) noexcept {
  for (std::size_t end = text.find('"', at + 1); end != std::string_view::npos;
       end = text.find('"', end + 1)) {
    std::size_t escapes = 0;
    while (text[end - 1 - escapes] == '\\') ++escapes;
    if (escapes % 2 == 0) return end + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::int64_t count_list(std::string_view text) noexcept {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return -1;
  std::int64_t commas = 0;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    switch (text[at]) {
      case '"': at = end_of_quoted(text, at); continue;  // npos ends the loop with a nonzero depth
      case '[':
      case '{': ++depth; break;
      case ']':
      case '}':
        if (--depth == 0 && at + 1 != text.size()) return -1;
        break;
      case ',': commas += depth == 1 ? 1 : 0; break;
      default: break;
    }
    ++at;
  }
  if (depth != 0) return -1;
  return text.size() == 2 ? 0 : commas + 1;
}

std::optional<StackText> find_stack(std::string_view text) {
  StackText result;
  result.node.type = NodeType::non_tensor_stack;
  result.node.own_device = true;
  if (!take(text, "{\"_type\":" + quote(type_name(NodeType::non_tensor_stack).class_name)))
    return std::nullopt;
  take(text, ",\"_format_version\":1,\"_class\":\"tensordict:NonTensorStack\"");
  if (!take(text, ",\"stack_dim\":")) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, result.node.stack_dim);
  if (error != std::errc() || result.node.stack_dim < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  if (!take(text, ",\"device\":")) return std::nullopt;
  if (!take(text, "null")) {
    const std::size_t quoted = text.empty() || text[0] != '"' ? 0 : end_of_quoted(text, 0);
    if (quoted == 0 || quoted == std::string_view::npos) return std::nullopt;
    result.node.device = text.substr(1, quoted - 2);
    text.remove_prefix(quoted);
  }
  if (!take(text, ",\"data\":") || text.empty() || text.back() != '}') return std::nullopt;
  text.remove_suffix(1);
  result.count = count_list(text);
  if (result.count < 0) return std::nullopt;
  result.node.data = text;
  return result;
}

void extend_list(std::string& list, std::string_view more) {
  if (more.size() <= 2) return;
  list.pop_back();
  if (list.size() > 1) list += ',';
  list += more.substr(1);
}

}  // namespace td::format
