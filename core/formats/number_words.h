// core/formats/number_words.h: NaN and infinities in JSON, which Python's json module writes and reads, for a parser
// that knows finite numbers only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace td::json {

class NumberWords {
 public:
  // The text with other spellings of 0 in place of the words; empty if it has no words.
  std::string spell(std::string_view text);
  // The word that a spelling stands for; other digits unchanged.
  std::string_view original(std::string_view digits) const noexcept;

 private:
  std::string spelling_;  // all but the last digit; occurs nowhere in the text
};

}  // namespace td::json
