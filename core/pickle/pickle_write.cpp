#include "core/pickle/pickle_write.h"

#include "core/base/error.h"
#include "core/base/quote.h"

#include <cstring>

namespace td::pickled {

// Integers are little-endian, floats big-endian.
void PickleText::add(const Plain& value) {
  switch (value.kind()) {
    case Plain::null: text_ += 'N'; return;
    case Plain::boolean: text_ += value.truth() ? '\x88' : '\x89'; return;
    case Plain::integer:
      text_ += "\x8a\x08";  // LONG1 of 8 bytes
      return append(static_cast<std::uint64_t>(value.integral()), 8);
    case Plain::real: {
      const double real = value.number();
      std::uint64_t bits = 0;
      std::memcpy(&bits, &real, sizeof bits);
      text_ += 'G';
      for (int i = 7; i >= 0; --i) text_ += static_cast<char>(bits >> (8 * i));
      return;
    }
    default: add_text(value.characters());
  }
}

void PickleText::add_text(std::string_view characters) {
  text_ += 'X';
  append(characters.size(), 4);
  text_ += characters;
}

void PickleText::global(std::string_view module, std::string_view name) {
  text_.append("c").append(module).append("\n").append(name).append("\n");
}

void PickleText::append(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(value >> (8 * i));
}

// Protocol 3, which every Python 3 reads.
PickleEvents::PickleEvents(Members more) : more_(std::move(more)) { text_ = "\x80\x03"; }

void PickleEvents::open(bool is_object) {
  if (depth_++ == 0 && !is_object) fail(Code::format, "a pickle of something else than a dict");
  PickleText::open(is_object);
}

void PickleEvents::name(std::string_view name) {
  for (const auto& [reserved, value] : more_) {
    if (depth_ != 1 || name != reserved) continue;
    fail(Code::key_invalid, "the key ", quote(name), " is reserved by the format");
  }
  add_text(name);
}

void PickleEvents::close(bool is_object) {
  if (--depth_ == 0) {
    for (const auto& [name, value] : more_) {
      add_text(name);
      add(value);
    }
  }
  PickleText::close(is_object);
  if (depth_ == 0) text_ += '.';
}

}  // namespace td::pickled
