// core/base/error.h: the exception of the core. Codes have the numbers of the C ABI's td_status.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>

namespace td {

enum class Code : std::int32_t {
  ok = 0,
  null_argument = -1,
  bad_handle = -2,
  invalid_argument = -3,
  buffer_too_small = -4,
  key_not_found = -10,
  key_invalid = -11,
  key_exists = -12,
  wrong_entry = -13,
  locked = -14,
  cycle = -15,
  shape = -20,
  index = -21,
  dtype = -22,
  device = -23,
  io = -30,
  format = -31,
  busy = -32,
  out_of_memory = -40,
  device_out_of_memory = -41,
  capacity = -42,
  unsupported = -50,
  version = -51,
  callback = -60,
  torch = -70,
  internal = -99,
};

// A code for programs and a one-line message that says what was asked and what was found.
class Error : public std::exception {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  Code code() const noexcept { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Code code_;
  std::string message_;
};

namespace detail {

// One part of a text: a value, and how a stream writes it. The value must outlive the part.
class TextPart {
 public:
  explicit TextPart(const char* text) noexcept : value_(text), write_(write_text) {}
  template <class T>
  explicit TextPart(const T& value) noexcept
      : value_(&value),
        write_([](std::ostream& to, const void* it) { to << *static_cast<const T*>(it); }) {}
  void write(std::ostream& to) const { write_(to, value_); }

 private:
  static void write_text(std::ostream& to, const void* text);

  const void* value_;
  void (*write_)(std::ostream& to, const void* value);
};

std::string joined(std::initializer_list<TextPart> parts);
[[noreturn]] void fail(Code code, std::initializer_list<TextPart> parts);

}  // namespace detail

// Formats and concatenates the parts as a stream does. What differs from call to call is inlined, and the code
// for a stream exists once.
template <class... Parts>
[[gnu::always_inline]] inline std::string text_of(const Parts&... parts) {
  return detail::joined({detail::TextPart(parts)...});
}

// fail(Code::shape, "no room for ", n, " rows")
template <class... Parts>
[[noreturn, gnu::always_inline]] inline void fail(Code code, const Parts&... parts) {
  detail::fail(code, {detail::TextPart(parts)...});
}

}  // namespace td
