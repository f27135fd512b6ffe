#include "core/formats/events.h"

#include "core/base/quote.h"
#include "core/formats/digits.h"

namespace td {

void send(const Plain& value, Events& to) {
  if (!value.is(Plain::list) && !value.is(Plain::object)) return to.add(value);
  const bool is_object = value.is(Plain::object);
  to.open(is_object);
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    if (is_object) to.name(value.name(i));
    send(value.items()[i], to);
  }
  to.close(is_object);
}

void JsonEvents::add(const Plain& value) {
  separate();
  switch (value.kind()) {
    case Plain::null: text_ += "null"; return;
    case Plain::boolean: text_ += value.truth() ? "true" : "false"; return;
    case Plain::integer: append_digits(text_, value.integral()); return;
    case Plain::text: add_quoted(value.characters()); return;
    default: text_ += value.characters();
  }
}

void JsonEvents::open(bool is_object) {
  separate();
  text_ += is_object ? '{' : '[';
}

void JsonEvents::name(std::string_view name) {
  separate();
  add_quoted(name);
  text_ += style_ == JsonStyle::python ? ": " : ":";
}

void JsonEvents::add_text(std::string_view text) {
  separate();
  text_ += text;
}

void JsonEvents::separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last == '[' || last == '{' || last == ':' || last == ' ') return;
  text_ += style_ == JsonStyle::python ? ", " : ",";
}

void JsonEvents::add_quoted(std::string_view text) {
  const std::size_t begin = text_.size();
  append_quoted(text_, text);
  if (style_ == JsonStyle::python) escape_beyond_ascii(text_, begin);
}

}  // namespace td
