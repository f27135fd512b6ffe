#include "core/tensor/index.h"

#include <charconv>

namespace td {

namespace {

// Parses an index in Python's notation: items separated by commas.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<IndexItem> run() {
    std::vector<IndexItem> items;
    skip_blanks();
    if (done()) return items;
    for (;;) {
      items.push_back(item());
      skip_blanks();
      if (done()) return items;
      if (!take(',')) stop("a comma or the end is expected");
      skip_blanks();
      if (done()) return items;  // Python allows a trailing comma
    }
  }

 private:
  IndexItem item() {
    skip_blanks();
    if (take_word("...")) return IndexItem::ellipsis();
    if (take_word("None")) return IndexItem::none();
    if (take_word("True")) return IndexItem::boolean(true);
    if (take_word("False")) return IndexItem::boolean(false);
    const std::optional<std::int64_t> first = number();
    skip_blanks();
    if (!take(':')) {
      if (!first) stop("an integer, a slice, \"...\", \"None\", \"True\" or \"False\" is expected");
      return IndexItem::at(*first);
    }
    const std::optional<std::int64_t> second = number();
    skip_blanks();
    std::optional<std::int64_t> third;
    if (take(':')) third = number();
    return IndexItem::range(first, second, third);
  }

  std::optional<std::int64_t> number() {
    skip_blanks();
    std::size_t from = at_;
    if (from < text_.size() && text_[from] == '+') ++from;
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + from, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) stop("the number is too large");
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  bool take(char character) {
    if (done() || text_[at_] != character) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void skip_blanks() {
    while (!done() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool done() const { return at_ == text_.size(); }
  [[noreturn]] void stop(const char* wish) const {
    fail(Code::index, "index \"", text_, "\", character ", at_ + 1, ": ", wish);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<IndexItem> parse_index(std::string_view text) { return Parser(text).run(); }

}  // namespace td
