#include "light_json.h"

namespace light {

namespace {

constexpr std::size_t max_depth = 100;

class Copier final : public JsonReader {
 public:
  std::string take() { return text_.take(); }

  bool null() override { return add("null"); }
  bool boolean(bool value) override { return add(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) override { return add(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) override { return add(std::to_string(value)); }
  bool number_float(double, const std::string &digits) override { return add(digits); }
  bool string(std::string &value) override { return add(in_quotes(value)); }
  bool key(std::string &name) override {
    text_.key(name);
    return true;
  }
  bool start_object(std::size_t) override { return open('{'); }
  bool start_array(std::size_t) override { return open('['); }
  bool end_object() override { return close('}'); }
  bool end_array() override { return close(']'); }

 private:
  bool add(const std::string &scalar) {
    text_.add(scalar);
    return true;
  }
  bool open(char bracket) {
    if (++depth_ > max_depth) throw NotPlain();
    text_.open(bracket);
    return true;
  }
  bool close(char bracket) {
    --depth_;
    text_.close(bracket);
    return true;
  }

  JsonText text_;
  std::size_t depth_ = 0;
};

}  // namespace

void JsonText::separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '[' && last != '{' && last != ':') text_ += ',';
}

void JsonText::add(const std::string &scalar) {
  separate();
  text_ += scalar;
}

void JsonText::key(const std::string &name) {
  separate();
  text_ += in_quotes(name) + ':';
}

void JsonText::open(char bracket) {
  separate();
  text_ += bracket;
}

std::string in_quotes(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) throw NotPlain();
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string compact(const std::string &json) {
  Copier copier;
  copier.run(json);
  return copier.take();
}

void JsonReader::run(const std::string &text) {
  nlohmann::json::sax_parse(text.begin(), text.end(),
                            static_cast<nlohmann::json_sax<nlohmann::json> *>(this));
}

}  // namespace light
