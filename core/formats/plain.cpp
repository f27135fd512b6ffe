#include "core/formats/plain.h"

#include "core/base/error.h"
#include "core/formats/digits.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <locale>
#include <new>
#include <sstream>
#include <string>

namespace td {

// Characters or items follow. A block that is being freed has no holder, and points to the next one.
struct Plain::Block {
  explicit Block(std::size_t n) : holders(1), count(n) {}

  std::atomic<std::uintptr_t> holders;
  std::size_t count;  // of characters or items

  char* characters() noexcept { return reinterpret_cast<char*>(this + 1); }
  Plain* items() noexcept { return reinterpret_cast<Plain*>(this + 1); }

  static Block* make(std::size_t count, std::size_t bytes) {
    return new (::operator new(sizeof(Block) + bytes)) Block(count);
  }
};

Plain Plain::of_block(Kind kind, Block* block) noexcept {
  Plain result;
  std::memcpy(result.bytes_.here, &block, sizeof block);
  result.bytes_.tag = static_cast<std::uint8_t>(kind | shared_bit);
  return result;
}

Plain::Block* Plain::block() const noexcept {
  Block* result = nullptr;
  std::memcpy(&result, bytes_.here, sizeof result);
  return result;
}

void Plain::hold() const noexcept {
  if (is_shared()) block()->holders.fetch_add(1, std::memory_order_relaxed);
}

void Plain::let_go() noexcept {
  if (!is_shared()) return;
  Block* next = nullptr;  // blocks without a holder
  const auto drop = [&next](const Plain& value) {
    if (!value.is_shared()) return;
    Block* const block = value.block();
    if (block->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (value.is(object)) block->count *= 2;  // the names, too
    if (value.kind() <= text) block->count = 0;
    block->holders.store(reinterpret_cast<std::uintptr_t>(next), std::memory_order_relaxed);
    next = block;
  };
  drop(*this);
  while (next != nullptr) {
    Block* const block = next;
    next = reinterpret_cast<Block*>(block->holders.load(std::memory_order_relaxed));
    // The items are not destroyed one by one, which would recurse.
    for (std::size_t i = 0; i < block->count; ++i) drop(block->items()[i]);
    ::operator delete(block);
  }
}

Plain Plain::of_truth(bool value) noexcept {
  Plain result = of_integer(value ? 1 : 0);
  result.bytes_.tag = boolean;
  return result;
}

Plain Plain::of_integer(std::int64_t value) noexcept {
  Plain result;
  std::memcpy(result.bytes_.here, &value, sizeof value);
  result.bytes_.tag = integer;
  return result;
}

Plain Plain::of_real(double value) {
  if (std::isnan(value)) return of_digits("NaN");
  if (std::isinf(value)) return of_digits(value < 0 ? "-Infinity" : "Infinity");
  std::string digits;
  append_shortest(digits, value);
  return of_digits(digits);
}

Plain Plain::of_characters(Kind kind, std::string_view characters) {
  if (characters.size() > most_here) {
    Block* const block = Block::make(characters.size(), characters.size());
    std::memcpy(block->characters(), characters.data(), characters.size());
    return of_block(kind, block);
  }
  Plain result;
  std::copy(characters.begin(), characters.end(), result.bytes_.here);
  result.bytes_.tag = static_cast<std::uint8_t>(kind | characters.size() << 4);
  return result;
}

Plain Plain::of_items(Kind kind, Plain* items, std::size_t count, std::size_t names) {
  const std::size_t all = count + names;
  Block* const block = Block::make(count, all * sizeof(Plain));
  for (std::size_t i = 0; i < all; ++i) new (block->items() + i) Plain(std::move(items[i]));
  return of_block(kind, block);
}

Plain Plain::of_list(std::vector<Plain> items) {
  return of_items(list, items.data(), items.size(), 0);
}

std::int64_t Plain::number_here() const noexcept {
  std::int64_t value = 0;
  std::memcpy(&value, bytes_.here, sizeof value);
  return value;
}

std::string_view Plain::characters() const noexcept {
  if (!is(text) && !is(real)) return {};
  if (is_shared()) return {block()->characters(), block()->count};
  return {bytes_.here, static_cast<std::size_t>(bytes_.tag >> 4)};
}

double Plain::number() const {
  if (is(integer)) return static_cast<double>(integral());
  double value = 0;
  if (parse_digits(characters(), value)) return value;
  if (characters() == "1e999") return std::numeric_limits<double>::infinity();
  if (characters() == "-1e999") return -std::numeric_limits<double>::infinity();
  std::istringstream text{std::string(characters())};
  text.imbue(std::locale::classic());
  if (text >> value) return value;  // it is too close to 0
  fail(Code::format, "the number ", characters(), " is too large");
}

Span<Plain> Plain::items() const noexcept {
  if (!is(list) && !is(object)) return {};
  return {block()->items(), block()->count};
}

Span<Plain> Plain::names() const noexcept {
  if (!is(object)) return {};
  return {block()->items() + block()->count, block()->count};
}

const Plain* Plain::find(std::string_view name) const noexcept {
  const Span<Plain> all = names();
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const Plain& one) { return one.characters() == name; });
  return at == all.end() ? nullptr : items().begin() + (at - all.begin());
}

bool Plain::equals(const Plain& other) const noexcept {
  if (std::memcmp(&bytes_, &other.bytes_, sizeof bytes_) == 0) return true;
  if (!is_shared() || bytes_.tag != other.bytes_.tag) return false;
  if (kind() <= text) return characters() == other.characters();
  return items() == other.items() && names() == other.names();
}

void PlainBuilder::close(bool is_object) {
  const std::size_t begin = begins_.back();
  const auto first = parts_.begin() + static_cast<std::ptrdiff_t>(begin);
  std::size_t count = parts_.size() - begin;
  Plain made;
  if (is_object) {
    count /= 2;
    std::vector<Plain> sorted;
    sorted.reserve(2 * count);
    for (std::size_t i = 0; i < count; ++i) sorted.push_back(std::move(parts_[begin + 2 * i + 1]));
    for (std::size_t i = 0; i < count; ++i) sorted.push_back(std::move(parts_[begin + 2 * i]));
    made = Plain::of_items(Plain::object, sorted.data(), count, count);
  } else {
    made = Plain::of_items(Plain::list, parts_.data() + begin, count, 0);
  }
  begins_.pop_back();
  parts_.erase(first, parts_.end());
  parts_.push_back(std::move(made));
}

Plain PlainBuilder::take() {
  Plain result;
  if (!parts_.empty()) result = std::move(parts_.back());
  parts_.clear();
  return result;
}

}  // namespace td
