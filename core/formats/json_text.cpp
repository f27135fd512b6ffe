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

Plain plain_names(const Names& names) {
  const auto is_set = [](const auto& name) { return name.has_value(); };
  if (std::none_of(names.begin(), names.end(), is_set)) return Plain();
  std::vector<Plain> list;
  for (const auto& name : names) list.push_back(name ? Plain::of_text(*name) : Plain());
  return Plain::of_list(std::move(list));
}

Plain head_of_list(const Plain& value, std::size_t length) {
  if (!value.is(Plain::list) || value.items().size() <= length) return value;
  return Plain::of_list(value.items().slice(0, length).vec());
}

}  // namespace td
