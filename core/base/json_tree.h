// core/base/json_tree.h: a JSON text as a tree, for texts that are short, such as settings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace td::json {

struct Tree {
  enum Kind { null, boolean, integer, real, text, list, object } kind = null;
  bool truth = false;
  std::int64_t integral = 0;
  std::string characters;          // of a text; of a number as it stands in the file
  std::vector<Tree> items;         // of a list or an object
  std::vector<std::string> names;  // of an object, one for each item

  const Tree* find(std::string_view name) const noexcept;
};

// Throws Code::format for what is no JSON, is nested deeper than `max_depth`, or names a member twice.
Tree read_tree(std::string_view text, const std::string& where, std::size_t max_depth = 64);

}  // namespace td::json
