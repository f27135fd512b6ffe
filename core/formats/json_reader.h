// core/formats/json_reader.h: JSON as events with their depth. Untrusted text needs no tree in memory.
#pragma once

#include "core/base/error.h"
#include "core/formats/json_text.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <utility>

namespace td::json {

using Json = nlohmann::json;

// A value without children.
struct Scalar {
  enum Kind { null, boolean, integer, real, text } kind;
  bool truth = false;
  std::int64_t integral = 0;
  std::string_view characters = {};  // of a text; of a number as in the file
};

// Passes the parser's events to a subclass and tracks their depth: fields of the outermost object are at
// depth 1.
class Reader : public nlohmann::json_sax<Json> {
 public:
  Reader(const std::string& where, std::size_t max_depth) : where_(where), max_depth_(max_depth) {}

  void run(std::string_view text) {
    Json::sax_parse(text.begin(), text.end(), static_cast<nlohmann::json_sax<Json>*>(this));
    if (depth_ != 0) fail_here("the text ends too early");
  }

 protected:
  virtual void on_scalar(const Scalar& value) = 0;
  virtual void on_open(bool is_object) = 0;
  virtual void on_close(bool is_object) = 0;
  virtual void on_key(std::string& key) = 0;

  // During on_open() the opened value counts; during on_close() it no longer does.
  std::size_t depth() const noexcept { return depth_; }

  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    fail(Code::format, where_, ": ", parts...);
  }

 private:
  bool null() override { return scalar({Scalar::null}); }
  bool boolean(bool value) override { return scalar({Scalar::boolean, value}); }
  bool number_integer(std::int64_t value) override {
    return scalar({Scalar::integer, false, value, std::to_string(value)});
  }
  bool number_unsigned(std::uint64_t value) override {
    const std::string digits = std::to_string(value);
    const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return scalar({fits ? Scalar::integer : Scalar::real, false,
                   fits ? static_cast<std::int64_t>(value) : 0, digits});
  }
  bool number_float(double, const std::string& digits) override {
    return scalar({Scalar::real, false, 0, digits});
  }
  bool string(std::string& value) override { return scalar({Scalar::text, false, 0, value}); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_object() override { return close(true); }
  bool end_array() override { return close(false); }
  bool key(std::string& value) override {
    on_key(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    fail_here("no JSON at byte ", position);
  }

  bool scalar(const Scalar& value) {
    on_scalar(value);
    return true;
  }
  bool open(bool is_object) {
    if (++depth_ > max_depth_) fail_here("nested deeper than ", max_depth_, " levels");
    on_open(is_object);
    return true;
  }
  bool close(bool is_object) {
    --depth_;
    on_close(is_object);
    return true;
  }

  const std::string& where_;
  std::size_t max_depth_;
  std::size_t depth_ = 0;
};

// Writes the events as compact JSON.
class Copier : public Reader {
 public:
  using Reader::Reader;
  std::string take() { return std::exchange(text_, {}); }

 protected:
  void on_scalar(const Scalar& value) override {
    separate();
    switch (value.kind) {
      case Scalar::null: text_ += "null"; break;
      case Scalar::boolean: text_ += value.truth ? "true" : "false"; break;
      case Scalar::text: text_ += quote(value.characters); break;
      default: text_ += value.characters;  // unchanged: loses no digits
    }
  }
  void on_open(bool is_object) override {
    separate();
    text_ += is_object ? '{' : '[';
  }
  void on_close(bool is_object) override { text_ += is_object ? '}' : ']'; }
  void on_key(std::string& key) override {
    separate();
    text_ += quote(key);
    text_ += ':';
  }

  // Adds a text as a field or element.
  void add(std::string_view text) {
    separate();
    text_ += text;
  }

 private:
  void separate() {
    if (text_.empty()) return;
    const char last = text_.back();
    if (last != '[' && last != '{' && last != ':') text_ += ',';
  }

  std::string text_;
};

}  // namespace td::json
