#include "core/formats/number_words.h"

#include <algorithm>
#include <iterator>

namespace td::json {

namespace {

// Python's reader takes numbers that are too large for infinite, which spares strict readers the word.
constexpr std::string_view words[] = {"NaN", "Infinity", "-Infinity", "1e999", "-1e999"};

// Whether a value may begin behind `before`, or end before `after`.
bool may_begin(char before) noexcept {
  return std::string_view("[,: \t\n\r").find(before) != std::string_view::npos;
}
bool may_end(char after) noexcept {
  return std::string_view("],} \t\n\r").find(after) != std::string_view::npos;
}

// The index of the word at this place, or the number of words.
std::size_t word_at(std::string_view text, std::size_t at) noexcept {
  std::size_t k = 0;
  for (; k < std::size(words); ++k) {
    const std::size_t end = at + words[k].size();
    if (text.substr(at, words[k].size()) == words[k] && (at == 0 || may_begin(text[at - 1])) &&
        (end == text.size() || may_end(text[end]))) {
      break;
    }
  }
  return k;
}

}  // namespace

std::string NumberWords::spell(std::string_view text) {
  spelling_.clear();
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (!has("NaN") && !has("Infinity") && !has("1e999")) return {};
  // One zero more than anywhere in the text.
  std::size_t most = 0, run = 0;
  for (const char c : text) {
    run = c == '0' ? run + 1 : 0;
    most = std::max(most, run);
  }
  spelling_ = "0." + std::string(most + 1, '0') + 'e';
  std::string result;
  result.reserve(text.size());
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool starts = !quoted && (c == 'N' || c == 'I' || c == '-' || c == '1');
    const std::size_t k = starts ? word_at(text, at) : std::size(words);
    if (k < std::size(words)) {
      result += spelling_ + static_cast<char>('0' + k);
      at += words[k].size() - 1;
      continue;
    }
    result += c;
    if (quoted && c == '\\' && at + 1 < text.size()) result += text[++at];
    if (c == '"') quoted = !quoted;
  }
  return result;
}

std::string_view NumberWords::original(std::string_view digits) const noexcept {
  const std::size_t size = spelling_.size();
  const bool is_word =
      size != 0 && digits.size() == size + 1 && digits.substr(0, size) == spelling_;
  return is_word ? words[digits[size] - '0'] : digits;
}

}  // namespace td::json
