// core/formats/json_tree.h: a JSON text as a tree. Freeing it neither allocates nor recurses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace td::json {

struct Tree {
  enum Kind { null, boolean, integer, real, text, list, object } kind = null;
  bool truth = false;
  std::int64_t integral = 0;
  std::string characters;          // of a text; of a number as in the file
  std::vector<Tree> items;         // of a list or an object
  std::vector<std::string> names;  // of an object, one for each item
  std::vector<Tree> above;         // during destruction: items still to be freed

  Tree() = default;
  Tree(Tree&&) noexcept = default;
  Tree& operator=(Tree&&) noexcept = default;
  ~Tree();

  // The member of an object, or nullptr.
  const Tree* find(std::string_view name) const noexcept;
  const Tree* find(std::string_view name, Kind wanted) const noexcept {
    const Tree* found = find(name);
    return found != nullptr && found->kind == wanted ? found : nullptr;
  }

  bool is_number() const noexcept { return kind == integer || kind == real; }
  double number() const;  // of an integer or a real
};

// Throws Code::format for invalid JSON, deeper nesting than `max_depth`, and repeated members unless `twice`
// allows them.
enum class Twice { refused, kept };
Tree read_tree(std::string_view text, const std::string& where, std::size_t max_depth = 64,
               Twice twice = Twice::refused);

// Compact; numbers as in the original text.
std::string text_of(const Tree& tree);

// Decodes a JSON string. Throws Code::format for other values.
std::string unquoted(std::string_view json, const std::string& where);

}  // namespace td::json
