// core/formats/json_reader.h: JSON as events with their depth. Untrusted text needs no tree in memory.
#pragma once

#include "core/base/error.h"
#include "core/formats/events.h"
#include "core/formats/json_text.h"
#include "core/formats/number_words.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <utility>

namespace td::json {

using Json = nlohmann::json;

// Passes the events of a text, or of another source, to a subclass and tracks their depth: fields of the outermost
// object are at depth 1.
class Reader : public nlohmann::json_sax<Json>, public Events {
 public:
  Reader(const std::string& where, std::size_t max_depth) : where_(where), max_depth_(max_depth) {}

  void run(std::string_view text) {
    const std::string spelled = words_.spell(text);
    if (!spelled.empty()) text = spelled;
    Json::sax_parse(text.begin(), text.end(), static_cast<nlohmann::json_sax<Json>*>(this));
    if (depth_ != 0) fail_here("the text ends too early");
  }

 protected:
  virtual void on_scalar(const Plain& value) = 0;
  virtual void on_open(bool is_object) = 0;
  virtual void on_close(bool is_object) = 0;
  virtual void on_key(std::string_view key) = 0;

  // During on_open() the opened value counts; during on_close() it no longer does.
  std::size_t depth() const noexcept { return depth_; }

  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    fail(Code::format, where_, ": ", parts...);
  }

 private:
  void add(const Plain& value) final { on_scalar(value); }
  void open(bool is_object) final {
    if (++depth_ > max_depth_) fail_here("nested deeper than ", max_depth_, " levels");
    on_open(is_object);
  }
  void name(std::string_view name) final { on_key(name); }
  void close(bool is_object) final {
    --depth_;
    on_close(is_object);
  }

  bool null() final { return scalar(Plain()); }
  bool boolean(bool value) final { return scalar(Plain::of_truth(value)); }
  bool number_integer(std::int64_t value) final { return scalar(Plain::of_integer(value)); }
  bool number_unsigned(std::uint64_t value) final {
    const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return scalar(fits ? Plain::of_integer(static_cast<std::int64_t>(value))
                       : Plain::of_digits(std::to_string(value)));
  }
  bool number_float(double, const std::string& digits) final {
    // The parser's digits have the decimal point of the program's locale.
    std::string pointed = digits;
    for (char& c : pointed)
      if (std::string_view("0123456789+-eE").find(c) == std::string_view::npos) c = '.';
    return scalar(Plain::of_digits(words_.original(pointed)));
  }
  bool string(std::string& value) final { return scalar(Plain::of_text(value)); }
  bool binary(Json::binary_t&) final { return false; }
  bool start_object(std::size_t) final { return started(true); }
  bool start_array(std::size_t) final { return started(false); }
  bool end_object() final { return ended(true); }
  bool end_array() final { return ended(false); }
  bool key(std::string& value) final {
    name(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) final {
    fail_here("no JSON at byte ", position);
  }

  bool scalar(const Plain& value) {
    add(value);
    return true;
  }
  bool started(bool is_object) {
    open(is_object);
    return true;
  }
  bool ended(bool is_object) {
    close(is_object);
    return true;
  }

  const std::string& where_;
  std::size_t max_depth_;
  std::size_t depth_ = 0;
  NumberWords words_;
};

// Writes the events as compact JSON.
class Copier : public Reader {
 public:
  using Reader::Reader;
  std::string take() { return text_.take(); }

 protected:
  void on_scalar(const Plain& value) override { text_.add(value); }
  void on_open(bool is_object) override { text_.open(is_object); }
  void on_close(bool is_object) override { text_.close(is_object); }
  void on_key(std::string_view key) override { text_.name(key); }

  // Adds a text as a field or element.
  void add_text(std::string_view text) { text_.add_text(text); }

 private:
  JsonEvents text_;
};

}  // namespace td::json
