// Writes JSON text as a pickle of plain values.
#include "core/pickle/pickle_write.h"

#include "core/base/error.h"
#include "core/formats/json_text.h"
#include "core/formats/json_tree.h"

#include <cstdlib>
#include <cstring>

namespace td::pickled {

namespace {

// Protocol 3, which every Python 3 reads. Integers are little-endian, floats big-endian.
class PickleText {
 public:
  void number(std::int64_t value) {
    text_ += "\x8a\x08";  // LONG1 of 8 bytes
    bytes(static_cast<std::uint64_t>(value), 8);
  }
  void real(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    text_ += 'G';
    for (int i = 7; i >= 0; --i) text_ += static_cast<char>(bits >> (8 * i));
  }
  void text(std::string_view characters) {
    text_ += 'X';
    bytes(characters.size(), 4);
    text_ += characters;
  }
  void mark(char what) {
    text_ += what;
    text_ += '(';
  }
  void code(char what) { text_ += what; }
  std::string take() { return "\x80\x03" + std::move(text_) + '.'; }

 private:
  void bytes(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) text_ += static_cast<char>(value >> (8 * i));
  }
  std::string text_;
};

void write_tree(const json::Tree& tree, PickleText& to) {
  switch (tree.kind) {
    case json::Tree::null: return to.code('N');
    case json::Tree::boolean: return to.code(tree.truth ? '\x88' : '\x89');
    case json::Tree::integer: return to.number(tree.integral);
    case json::Tree::real: return to.real(std::strtod(tree.characters.c_str(), nullptr));
    case json::Tree::text: return to.text(tree.characters);
    case json::Tree::list:
    case json::Tree::object: break;
  }
  const bool named = tree.kind == json::Tree::object;
  to.mark(named ? '}' : ']');
  for (std::size_t i = 0; i < tree.items.size(); ++i) {
    if (named) to.text(tree.names[i]);
    write_tree(tree.items[i], to);  // nesting is limited by the parser
  }
  to.code(named ? 'u' : 'e');
}

}  // namespace

std::string pickle_of_json(std::string_view json, std::string_view more, const std::string& where) {
  json::Tree tree = json::read_tree(json, where, max_json_depth);
  json::Tree added = json::read_tree(more, where, max_json_depth);
  if (tree.kind != json::Tree::object) fail(Code::format, where, ": not an object");
  for (std::size_t i = 0; i < added.items.size(); ++i) {
    if (tree.find(added.names[i]) != nullptr) {
      fail(Code::key_invalid, where, ": the key ", quote(added.names[i]),
           " is reserved by the format");
    }
    tree.names.push_back(std::move(added.names[i]));
    tree.items.push_back(std::move(added.items[i]));
  }
  PickleText text;
  write_tree(tree, text);
  return text.take();
}

}  // namespace td::pickled
