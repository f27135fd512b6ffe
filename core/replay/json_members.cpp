#include "core/replay/json_members.h"

#include "core/base/error.h"

#include <cmath>

namespace td {

namespace {

// The texts of an object's members, in order. Expects valid JSON.
std::vector<std::string> values_in(std::string_view text) {
  std::vector<std::string> values;
  std::size_t depth = 0, begin = 0;
  bool quoted = false;
  const auto close = [&](std::size_t end) {
    const std::string_view space = " \t\r\n";
    const std::size_t first = text.find_first_not_of(space, begin);
    if (begin == 0 || first >= end) return;
    values.emplace_back(text.substr(first, text.find_last_not_of(space, end - 1) + 1 - first));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) close(i);
    } else if (depth == 1 && c == ':') {
      begin = i + 1;
    } else if (depth == 1 && c == ',') {
      close(i);
    }
  }
  return values;
}

}  // namespace

JsonMembers::JsonMembers(std::string text, const std::string& where)
    : text_(std::move(text)), where_(where), tree_(read_json(text_, where)) {
  if (!tree_.is(Plain::object)) fail(Code::format, where, " is no JSON object");
  const std::vector<std::string> values = values_in(text_);
  for (std::size_t i = 0; i < tree_.names().size(); ++i)
    members_.emplace_back(tree_.name(i), values.at(i));
}

std::optional<std::int64_t> JsonMembers::integer(std::string_view name) const {
  const Plain* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is(Plain::integer))
    fail(Code::format, where_, " has a \"", name, "\" that is no whole number");
  return value->integral();
}

std::optional<double> JsonMembers::real(std::string_view name) const {
  const Plain* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is(Plain::integer)) return value->number();
  if (!value->is(Plain::real) || !std::isfinite(value->number()))
    fail(Code::format, where_, " has a \"", name, "\" that is no finite number");
  return value->number();
}

void JsonMembers::set(std::string_view name, std::string text) {
  for (auto& [known, value] : members_) {
    if (known != name) continue;
    if (value == text) return;
    value = std::move(text);
    text_.clear();
    return;
  }
  members_.emplace_back(name, std::move(text));
  text_.clear();
}

std::string JsonMembers::text() const {
  if (!text_.empty()) return text_;
  std::string result = "{";
  for (const auto& [name, value] : members_) {
    if (result.size() > 1) result += ", ";
    append_quoted(result, name);
    result += ": " + value;
  }
  return result + "}";
}

}  // namespace td
