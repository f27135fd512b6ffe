#include "core/pickle/pickle_state.h"

#include "core/base/key.h"

#include <algorithm>
#include <cstring>

namespace td::pickled {

namespace {

std::size_t text_for(std::size_t pickle_bytes) {
  constexpr std::size_t least = std::size_t{1} << 20, most = std::size_t{1} << 28, each = 64;
  return std::min(most, least + std::min(most, pickle_bytes) * each);
}

}  // namespace

State::State(std::string_view text, const std::string& where, std::size_t max_objects)
    : text_(text), where_(where), max_objects_(max_objects) {
  result_.most_text = text_for(text.size());
  none_ = make(Kind::none);
  false_ = make(Kind::truth);
  true_ = make(Kind::truth);
  at(true_).number = 1;
}

void State::bad(const char* what) const {
  fail(Code::format, where_, ": ", what, ", at byte ", at_);
}

std::string_view State::take(std::uint64_t bytes) {
  if (bytes > text_.size() - at_) bad("the pickle ends too early");
  const std::string_view piece = text_.substr(at_, static_cast<std::size_t>(bytes));
  at_ += piece.size();
  return piece;
}

std::uint64_t State::number(std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, take(bytes).data(), bytes);
  return value;
}

std::string_view State::line() {
  const std::size_t end = text_.find('\n', at_);
  if (end == std::string_view::npos) bad("the pickle ends too early");
  const std::string_view piece = text_.substr(at_, end - at_);
  at_ = end + 1;
  return piece;
}

Ref State::make(Kind kind) {
  if (result_.objects.size() >= max_objects_) {
    fail(Code::format, where_, ": more than ", max_objects_, " objects");
  }
  result_.objects.emplace_back();
  result_.objects.back().kind = kind;
  return static_cast<Ref>(result_.objects.size() - 1);
}

Ref State::integer(std::int64_t value) {
  const Ref ref = make(Kind::integer);
  at(ref).number = value;
  return ref;
}

Ref State::real(double value) {
  const Ref ref = make(Kind::real);
  at(ref).real = value;
  return ref;
}

Ref State::text(Kind kind, std::string_view characters) {
  if (kind == Kind::text && !is_utf8(characters)) bad("a text is not UTF-8");
  const Ref ref = make(kind);
  at(ref).text = characters;
  return ref;
}

Ref State::list(std::vector<Ref> items) {
  const Ref ref = make(Kind::list);
  at(ref).items = std::move(items);
  return ref;
}

Ref State::tensor(TensorPlace place) {
  const Ref ref = make(Kind::tensor);
  at(ref).number = static_cast<std::int64_t>(result_.tensors.size());
  result_.tensors.push_back(std::move(place));
  return ref;
}

void State::count(std::size_t n) {
  counted_ += n;
  if (counted_ > max_objects_) fail(Code::format, where_, ": more than ", max_objects_, " items");
}

Ref State::top() const {
  if (stack_.size() <= floor()) bad("the stack is empty");
  return stack_.back();
}

Ref State::pop() {
  const Ref ref = top();
  stack_.pop_back();
  return ref;
}

std::vector<Ref> State::pop_some(std::size_t n) {
  if (stack_.size() - floor() < n) bad("the stack is empty");
  std::vector<Ref> items(stack_.end() - static_cast<std::ptrdiff_t>(n), stack_.end());
  stack_.resize(stack_.size() - n);
  return items;
}

std::vector<Ref> State::pop_mark() {
  if (marks_.empty()) bad("the mark is missing");
  const std::size_t n = stack_.size() - marks_.back();
  std::vector<Ref> items = pop_some(n);
  marks_.pop_back();
  return items;
}

void State::append(const std::vector<Ref>& items) {
  Object& list = at(top());
  if (list.kind == Kind::foreign) return;
  if (list.kind == Kind::made) fail_unknown(class_of(result_, list), where_);
  if (list.kind != Kind::list) bad("something is appended to a value that is not a list");
  list.items.insert(list.items.end(), items.begin(), items.end());
}

void State::set_items(Ref ref, const std::vector<Ref>& items) {
  Object& dict = at(ref);
  if (dict.kind == Kind::foreign) return;
  if (dict.kind == Kind::made) fail_unknown(class_of(result_, dict), where_);
  if (dict.kind != Kind::dict || items.size() % 2 != 0)
    bad("items are set in a value that is not a dict");
  dict.items.insert(dict.items.end(), items.begin(), items.end());
}

void State::get(std::uint64_t slot) {
  const auto found = memo_.find(slot);
  if (found == memo_.end()) bad("something is read from the memo that is not in it");
  push(found->second);
}

Pickle State::finish() {
  result_.root = pop();
  if (!stack_.empty() || at_ != text_.size()) bad("something is left at the end");
  return std::move(result_);
}

}  // namespace td::pickled
