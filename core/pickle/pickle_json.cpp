// Plain values of a pickle as JSON.
#include "core/formats/format.h"
#include "core/pickle/pickled.h"

#include <charconv>
#include <cmath>

namespace td::pickled {

namespace {

class Json {
 public:
  Json(const Pickle& pickle, std::size_t max_bytes, const std::string& where)
      : pickle_(pickle), max_bytes_(max_bytes), where_(where) {}

  std::string run(Ref value) {
    append(value, 0);
    return std::move(text_);
  }

 private:
  // Nests only as deep as JSON may.
  void append(Ref ref, std::size_t depth) {
    const Object& value = pickle_.objects[ref];
    if (depth > max_json_depth || text_.size() > max_bytes_) {
      fail(Code::format, where_, ": a value is nested too deep, or too long");
    }
    switch (value.kind) {
      case Kind::none: text_ += "null"; return;
      case Kind::truth: text_ += value.number != 0 ? "true" : "false"; return;
      case Kind::integer: text_ += std::to_string(value.number); return;
      case Kind::real: append_real(value.real); return;
      case Kind::text: text_ += quote(value.text); return;
      case Kind::list:
      case Kind::dict: break;
      default:
        fail(Code::unsupported, where_,
             ": a value is neither a tensor nor a text, a number, a list or a dict");
    }
    const bool dict = value.kind == Kind::dict;
    text_ += dict ? '{' : '[';
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (i != 0) text_ += dict && i % 2 != 0 ? ':' : ',';
      if (dict && i % 2 == 0) {
        text_ += quote(key_of(pickle_, value.items[i], where_));
      } else {
        append(value.items[i], depth + 1);
      }
    }
    text_ += dict ? '}' : ']';
  }

  // JSON has neither infinities nor NaN: null, as in Python's writer of the format.
  void append_real(double value) {
    if (!std::isfinite(value)) {
      text_ += "null";
      return;
    }
    char digits[32];
    const std::string_view shortest(
        digits,
        static_cast<std::size_t>(std::to_chars(digits, std::end(digits), value).ptr - digits));
    text_ += shortest;
    if (shortest.find_first_of(".e") == std::string_view::npos) text_ += ".0";
  }

  const Pickle& pickle_;
  std::size_t max_bytes_;
  const std::string& where_;
  std::string text_;
};

}  // namespace

std::string key_of(const Pickle& pickle, Ref ref, const std::string& where) {
  const Object& key = pickle.objects[ref];
  if (key.kind == Kind::text) return key.text;
  if (key.kind == Kind::integer) return std::to_string(key.number);
  fail(Code::unsupported, where, ": a key is neither a text nor a whole number");
}

std::string json_of(const Pickle& pickle, Ref value, std::size_t max_bytes,
                    const std::string& where) {
  return Json(pickle, max_bytes, where).run(value);
}

}  // namespace td::pickled
