// core/pickle/pickle_write.h: pickles for Python to read: plain values, and the calls that make objects of them.
#pragma once

#include "core/formats/events.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace td::pickled {

// Writes the instructions for values, of dicts, lists, texts and numbers. The first bytes and the last are the caller's.
class PickleText : public TextEvents {
 public:
  void add(const Plain& value) override;
  void open(bool is_object) override { text_ += is_object ? "}(" : "]("; }
  void name(std::string_view name) override { add_text(name); }
  void close(bool is_object) override { text_ += is_object ? 'u' : 'e'; }

  void add_text(std::string_view characters);
  void add_number(std::int64_t number) { add(Plain::of_integer(number)); }
  // Instructions as they are: 'N' for None, '(' and 't' around a tuple, 'R' for a call, and so on.
  void code(std::string_view instructions) { text_ += instructions; }
  // A class or a function.
  void global(std::string_view module, std::string_view name);

 private:
  void append(std::uint64_t value, int bytes);
};

// Writes a pickle for pickle.loads(): one dict, at whose end `more` is added. Code::key_invalid if it has a member of that
// name.
class PickleEvents final : public PickleText {
 public:
  using Members = std::vector<std::pair<std::string_view, Plain>>;
  explicit PickleEvents(Members more);

  void open(bool is_object) override;
  void name(std::string_view name) override;
  void close(bool is_object) override;

 private:
  Members more_;
  std::size_t depth_ = 0;
};

}  // namespace td::pickled
