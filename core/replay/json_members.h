// core/replay/json_members.h: a small JSON object whose members stay as they were written.
#pragma once

#include "core/formats/json_tree.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace td {

// The settings of a replay buffer's folder. Members that nobody knows here are kept, and a text whose members do
// not change is written again byte by byte: another program finds what it wrote.
class JsonMembers {
 public:
  JsonMembers() = default;

  // Throws Code::format when it is no object, or names a member twice.
  JsonMembers(std::string text, const std::string& where);

  // As a number, or nothing when there is none of this name. Throws Code::format when it is no such number.
  std::optional<std::int64_t> integer(std::string_view name) const;
  std::optional<double> real(std::string_view name) const;
  const json::Tree* find(std::string_view name) const noexcept {
    return tree_ == nullptr ? nullptr : tree_->find(name);
  }

  // `text`: that of the value.
  void set(std::string_view name, std::string text);

  std::string text() const;

 private:
  std::string text_;  // as it was read; empty once a member has changed
  std::string where_;
  std::shared_ptr<const json::Tree> tree_;  // as it was read; copies share it
  std::vector<std::pair<std::string, std::string>> members_;
};

// A number as JSON has it; it is finite.
std::string json_number(double value);

}  // namespace td
