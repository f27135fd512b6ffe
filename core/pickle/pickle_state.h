// core/pickle/pickle_state.h: the state of reading a pickle: bytes, a stack with marks, a memo, and objects.
// Bounded by the text's length and a number of objects.
#pragma once

#include "core/pickle/pickled.h"

#include <unordered_map>

namespace td::pickled {

class State {
 public:
  State(std::string_view text, const std::string& where, std::size_t max_objects);

  const std::string& where() const noexcept { return where_; }
  std::size_t position() const noexcept { return at_; }
  [[noreturn]] void bad(const char* what) const;

  // Takes bytes from the front. Code::format at the end of the text.
  std::string_view take(std::uint64_t bytes);
  unsigned char byte() { return static_cast<unsigned char>(take(1)[0]); }
  std::uint64_t number(std::size_t bytes);
  std::string_view line();

  Object& at(Ref ref) { return result_.objects[ref]; }
  Ref make(Kind kind);
  Ref none() const noexcept { return none_; }
  Ref truth(bool value) const noexcept { return value ? true_ : false_; }
  Ref integer(std::int64_t value);
  Ref real(double value);
  Ref text(Kind kind, std::string_view characters);
  Ref list(std::vector<Ref> items);
  Ref tensor(TensorPlace place);

  // Counts work that may exceed the text's length, such as repeated copies of a large object.
  void count(std::size_t n);

  void push(Ref ref) { stack_.push_back(ref); }
  void mark() { marks_.push_back(stack_.size()); }
  Ref top() const;
  Ref pop();
  std::vector<Ref> pop_some(std::size_t n);
  std::vector<Ref> pop_mark();

  // Add elements and items to an object; foreign objects ignore them.
  void append(const std::vector<Ref>& items);
  void set_items(Ref ref, const std::vector<Ref>& items);

  void put(std::uint64_t slot) { memo_[slot] = top(); }
  void memoize() { put(memo_.size()); }
  void get(std::uint64_t slot);

  // Takes the result: one object on the stack and no text left.
  Pickle finish();

 private:
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  std::string_view text_;
  const std::string& where_;
  std::size_t max_objects_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  Pickle result_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Ref> memo_;
  Ref none_ = 0;
  Ref false_ = 0;
  Ref true_ = 0;
};

}  // namespace td::pickled
