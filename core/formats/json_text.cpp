#include "core/formats/json_text.h"

#include "core/formats/json_reader.h"

#include <algorithm>

namespace td {

namespace {

class PlainReader final : public json::Reader {
 public:
  PlainReader(const std::string& where, std::size_t max_depth, Repeated repeated)
      : Reader(where, max_depth), repeated_(repeated) {}
  Plain take() { return made_.take(); }

 private:
  void on_key(std::string_view key) override { made_.name(key); }
  void on_scalar(const Plain& value) override { made_.add(value); }
  void on_open(bool) override { made_.open(); }
  void on_close(bool is_object) override {
    made_.close(is_object);
    if (is_object && repeated_ == Repeated::refused) require_once(made_.last().names());
  }
  void require_once(Span<Plain> names) const {
    std::vector<std::string_view> sorted;
    sorted.reserve(names.size());
    for (const Plain& name : names) sorted.push_back(name.characters());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) fail_here(quote(*twice), " occurs twice");
  }

  Repeated repeated_;
  PlainBuilder made_;
};

}  // namespace

Plain read_json(std::string_view text, const std::string& where, std::size_t max_depth,
                Repeated repeated) {
  PlainReader reader(where, max_depth, repeated);
  reader.run(text);
  return reader.take();
}

std::string json_text(const Plain& value) {
  JsonEvents text;
  send(value, text);
  return text.take();
}

std::string json_text(const Plain& value, const std::string& where) {
  if (is_deeper(value, max_json_depth))
    fail(Code::format, where, ": nested deeper than ", max_json_depth, " levels");
  return json_text(value);
}

std::string python_json(const Plain& value) {
  JsonEvents text(JsonStyle::python);
  send(value, text);
  return text.take();
}

bool is_deeper(const Plain& value, std::size_t levels) {
  const auto nests = [](const Plain& one) { return one.is(Plain::list) || one.is(Plain::object); };
  std::vector<std::pair<const Plain*, std::size_t>> pending;
  if (nests(value)) pending.emplace_back(&value, 1);
  while (!pending.empty()) {
    const auto [at, level] = pending.back();
    pending.pop_back();
    if (level > levels) return true;
    for (const Plain& inner : at->items()) {
      if (nests(inner)) pending.emplace_back(&inner, level + 1);
    }
  }
  return false;
}

namespace {

void append_escape(std::string& out, unsigned unit) {
  constexpr char hex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += hex[unit >> shift & 15];
}

// The character of valid UTF-8 that starts at `at`, which is moved behind it.
unsigned take_character(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const int more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  unsigned result = more == 0 ? lead : lead & (0x3f >> more);
  for (int i = 0; i < more && at < text.size(); ++i)
    result = result << 6 | (static_cast<unsigned char>(text[at++]) & 0x3f);
  return result;
}

}  // namespace

std::string python_json(std::string_view compact, bool spaces) {
  std::string result;
  result.reserve(compact.size() + (spaces ? compact.size() / 8 : 0));
  bool quoted = false;
  for (std::size_t at = 0; at < compact.size();) {
    const char c = compact[at];
    if (static_cast<unsigned char>(c) >= 0x7f) {
      const unsigned character = take_character(compact, at);
      if (character < 0x10000) {
        append_escape(result, character);
      } else {
        append_escape(result, 0xd800 + ((character - 0x10000) >> 10));
        append_escape(result, 0xdc00 + ((character - 0x10000) & 0x3ff));
      }
      continue;
    }
    result += c;
    ++at;
    if (quoted && c == '\\' && at < compact.size()) result += compact[at++];
    if (c == '"') quoted = !quoted;
    const bool apart =
        at < compact.size() && compact[at] != ' ';  // a text that had spaces keeps them
    if (spaces && !quoted && (c == ',' || c == ':') && apart) result += ' ';
  }
  return result;
}

Plain head_of_list(const Plain& value, std::size_t length) {
  if (!value.is(Plain::list) || value.items().size() <= length) return value;
  return Plain::of_list(value.items().slice(0, length).vec());
}

}  // namespace td
