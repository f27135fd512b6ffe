// Plain values of a pickle.
#include "core/formats/json_text.h"
#include "core/pickle/pickled.h"

namespace td::pickled {

namespace {

class Reading {
 public:
  Reading(const Pickle& pickle, std::size_t& bytes_left, const std::string& where)
      : pickle_(pickle), bytes_left_(bytes_left), where_(where) {}

  // Nests only as deep as JSON may.
  void read(Ref ref, std::size_t depth) {
    const Object& value = pickle_.objects[ref];
    if (depth > max_json_depth) fail_large();
    switch (value.kind) {
      case Kind::none: return add(Plain(), 4);
      case Kind::truth: return add(Plain::of_truth(value.number != 0), 5);
      case Kind::integer:
        return add(Plain::of_integer(value.number), std::to_string(value.number).size());
      case Kind::real: {
        const Plain real = Plain::of_real(value.real);
        return add(real, real.characters().size());
      }
      case Kind::text: return add(Plain::of_text(value.text), value.text.size() + 2);
      case Kind::list:
      case Kind::dict: break;
      case Kind::made: fail_unknown(class_of(pickle_, value), where_);
      case Kind::function:
        if (!value.text.empty()) fail_unknown(value.text, where_);
        [[fallthrough]];
      default:
        fail(Code::unsupported, where_,
             ": a value is neither a tensor nor a text, a number, a list or a dict");
    }
    const bool dict = value.kind == Kind::dict;
    take(value.items.size() + 2);
    made_.open();
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (dict && i % 2 == 0) {
        const std::string key = key_of(pickle_, value.items[i], where_);
        take(key.size() + 2);
        made_.name(key);
      } else {
        read(value.items[i], depth + 1);
      }
    }
    made_.close(dict);
  }

  Plain made() { return made_.take(); }

 private:
  void add(const Plain& value, std::size_t bytes) {
    take(bytes);
    made_.add(value);
  }
  // An object may be met often: what is counted is its text, each time.
  void take(std::size_t bytes) {
    if (bytes > bytes_left_) fail_large();
    bytes_left_ -= bytes;
  }
  [[noreturn]] void fail_large() const {
    fail(Code::format, where_, ": a value is nested too deep, or too long");
  }

  const Pickle& pickle_;
  std::size_t& bytes_left_;
  const std::string& where_;
  PlainBuilder made_;
};

}  // namespace

const std::string& class_of(const Pickle& pickle, const Object& made) {
  return pickle.objects[static_cast<std::size_t>(made.number)].text;
}

void fail_unknown(std::string_view name, const std::string& where) {
  fail(Code::unsupported, where, ": ", quote(std::string(name)),
       " is neither a plain value nor what makes a tensor, and is not run");
}

std::string key_of(const Pickle& pickle, Ref ref, const std::string& where) {
  const Object& key = pickle.objects[ref];
  if (key.kind == Kind::text) return key.text;
  if (key.kind == Kind::integer) return std::to_string(key.number);
  fail(Code::unsupported, where, ": a key is neither a text nor a whole number");
}

Plain plain_of(const Pickle& pickle, Ref value, std::size_t& bytes_left, const std::string& where) {
  Reading reading(pickle, bytes_left, where);
  reading.read(value, 0);
  return reading.made();
}

}  // namespace td::pickled
