// core/formats/plain.h: a value that is no tensor: null, true or false, a number, a text, a list or an object.
#pragma once

#include "core/base/span.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace td {

class PlainBuilder;

// Immutable: copies share it. 16 bytes; a text of up to 15 bytes needs no other memory, a longer one, a list or an
// object one block. Freeing it neither allocates nor recurses.
class Plain {
 public:
  // A real keeps its digits, so that no number loses any. So does a whole number beyond 64 bits. NaN, Infinity and
  // -Infinity are reals with these words for digits, as in Python's JSON.
  enum Kind : std::uint8_t { null, boolean, integer, real, text, list, object };

  Plain() noexcept = default;
  Plain(const Plain& other) noexcept : bytes_(other.bytes_) { hold(); }
  Plain(Plain&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = {}; }
  Plain& operator=(Plain other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Plain() { let_go(); }

  static Plain of_truth(bool value) noexcept;
  static Plain of_integer(std::int64_t value) noexcept;
  static Plain of_real(double value);  // the shortest digits
  static Plain of_digits(std::string_view digits) { return of_characters(real, digits); }
  static Plain of_text(std::string_view characters) { return of_characters(text, characters); }
  static Plain of_list(std::vector<Plain> items);

  Kind kind() const noexcept { return static_cast<Kind>(bytes_.tag & kind_bits); }
  bool is(Kind wanted) const noexcept { return wanted == kind(); }
  bool is_number() const noexcept { return is(integer) || is(real); }

  bool truth() const noexcept { return is(boolean) && number_here() != 0; }
  std::int64_t integral() const noexcept { return is(integer) ? number_here() : 0; }
  std::string_view characters() const noexcept;  // of a text, digits of a real; else empty
  double number() const;                         // of an integer or a real

  Span<Plain> items() const noexcept;  // of a list or an object
  Span<Plain> names() const noexcept;  // of an object, a text for each item
  std::string_view name(std::size_t i) const noexcept { return names()[i].characters(); }

  // The first member of that name of an object, or nullptr.
  const Plain* find(std::string_view name) const noexcept;
  const Plain* find(std::string_view name, Kind wanted) const noexcept {
    const Plain* found = find(name);
    return found != nullptr && found->is(wanted) ? found : nullptr;
  }

  // Numbers are equal if their digits are, objects if their members are, in the same order.
  friend bool operator==(const Plain& a, const Plain& b) noexcept { return a.equals(b); }
  friend bool operator!=(const Plain& a, const Plain& b) noexcept { return !(a == b); }

 private:
  friend class PlainBuilder;
  struct Block;

  static constexpr std::uint8_t kind_bits = 7, shared_bit = 8;
  static constexpr std::size_t most_here = 15;

  // A number, up to 15 characters, or a pointer to a block. The high half of the tag is the count of characters.
  struct alignas(8) Bytes {
    char here[most_here];
    std::uint8_t tag;
  };

  static Plain of_characters(Kind kind, std::string_view characters);
  static Plain of_block(Kind kind, Block* block) noexcept;
  // Moves `count` items, and behind them `names`, into a block.
  static Plain of_items(Kind kind, Plain* items, std::size_t count, std::size_t names);

  bool equals(const Plain& other) const noexcept;
  bool is_shared() const noexcept { return (bytes_.tag & shared_bit) != 0; }
  std::int64_t number_here() const noexcept;
  Block* block() const noexcept;
  void hold() const noexcept;
  void let_go() noexcept;

  Bytes bytes_ = {};  // null
};

// Makes a value of its parts, in the order of a text. The caller closes what he opens.
class PlainBuilder {
 public:
  void add(Plain value) { parts_.push_back(std::move(value)); }
  void name(std::string_view name) { parts_.push_back(Plain::of_text(name)); }
  void open() { begins_.push_back(parts_.size()); }
  void close(bool is_object);

  // The value, once it is complete.
  Plain take();
  // The value that was closed last.
  const Plain& last() const noexcept { return parts_.back(); }

 private:
  std::vector<Plain> parts_;         // those of an object are names and items by turns
  std::vector<std::size_t> begins_;  // of what is open
};

}  // namespace td
