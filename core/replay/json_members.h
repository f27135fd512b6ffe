// core/replay/json_members.h: a small JSON object that preserves the original text of its members.
#pragma once

#include "core/formats/json_text.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace td {

// Settings in a replay buffer's folder. Unknown members are kept, and a text without changes is written back
// byte by byte, as the other program wrote it.
class JsonMembers {
 public:
  JsonMembers() = default;

  // Throws Code::format if it is not an object or repeats a member.
  JsonMembers(std::string text, const std::string& where);

  // The member as a number; nullopt if it is missing. Throws Code::format for another type.
  std::optional<std::int64_t> integer(std::string_view name) const;
  std::optional<double> real(std::string_view name) const;
  const Plain* find(std::string_view name) const noexcept { return tree_.find(name); }
  const Plain* find(std::string_view name, Plain::Kind wanted) const noexcept {
    return tree_.find(name, wanted);
  }

  // `text`: the value as JSON.
  void set(std::string_view name, std::string text);

  std::string text() const;

 private:
  std::string text_;  // original text; empty once a member has changed
  std::string where_;
  Plain tree_;  // parsed `text`
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace td
