// JSON as the library writes it, and what readers of other people's JSON have in common.
#ifndef TDTOOL_LIGHT_JSON_H
#define TDTOOL_LIGHT_JSON_H

#include <nlohmann/json.hpp>

#include <string>

#include "light_file.h"

namespace light {

// JSON without white space, made piece by piece.
class JsonText {
 public:
  void add(const std::string &scalar);
  void key(const std::string &name);
  void open(char bracket);
  void close(char bracket) { text_ += bracket; }
  bool empty() const noexcept { return text_.empty(); }
  std::string take() { return std::move(text_); }

 private:
  void separate();
  std::string text_;
};

// A text in quotes; NotPlain for one with control characters.
std::string in_quotes(const std::string &text);
// The same value without needless white space; NotPlain when it is no JSON, or deep.
std::string compact(const std::string &json);

// Events of a text; whoever derives takes those that it expects, and all others are NotPlain.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  void run(const std::string &text);

  bool null() override { throw NotPlain(); }
  bool boolean(bool) override { throw NotPlain(); }
  bool number_integer(std::int64_t) override { throw NotPlain(); }
  bool number_unsigned(std::uint64_t) override { throw NotPlain(); }
  bool number_float(double, const std::string &) override { throw NotPlain(); }
  bool string(std::string &) override { throw NotPlain(); }
  bool binary(nlohmann::json::binary_t &) override { throw NotPlain(); }
  bool parse_error(std::size_t, const std::string &, const nlohmann::detail::exception &) override {
    throw NotPlain();
  }
};

}  // namespace light

#endif
