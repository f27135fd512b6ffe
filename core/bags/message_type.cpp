#include "core/bags/message_type.h"

#include "core/base/error.h"
#include "core/base/quote.h"

#include <map>
#include <set>
#include <utility>

namespace td::bags {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::size_t most_types = 1000;

using Sections = std::map<std::string, std::string_view>;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The next line, which is taken off.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool is_border(std::string_view line) {
  line = trimmed(line);
  return line.size() > 2 && line.find_first_not_of('=') == std::string_view::npos;
}

// The text up to the first border, and those behind "MSG: name".
std::string_view split(std::string_view text, Sections& sections) {
  std::string_view first;
  for (bool begun = false; !text.empty() || !begun; begun = true) {
    std::string name;
    if (begun) {
      const std::string_view line = trimmed(take_line(text));
      if (line.substr(0, 4) == "MSG:") name = short_name(trimmed(line.substr(4)));
    }
    const char* start = text.data();
    std::size_t size = 0;
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      if (is_border(line)) break;
      size = static_cast<std::size_t>(text.data() - start);
    }
    const std::string_view body(start, size);
    begun ? (void)sections.emplace(name, body) : (void)(first = body);
  }
  return first;
}

const Sections& known_sections() {
  static const Sections* const known = [] {
    auto* sections = new Sections;
    split(known_definitions(), *sections);
    return sections;
  }();
  return *known;
}

bool is_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  if (name.empty() || letters.find(name[0]) == std::string_view::npos) return false;
  for (const char c : name) {
    if (letters.find(c) == std::string_view::npos && (c < '0' || c > '9')) return false;
  }
  return true;
}

// -1: no number.
std::int64_t count_of(std::string_view digits) {
  std::int64_t number = 0;
  if (digits.empty() || digits.size() > 10) return -1;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return -1;
    number = 10 * number + (digit - '0');
  }
  return number;
}

struct Primitive {
  std::string_view name;
  Kind kind;
};
constexpr Primitive primitives[] = {
    {"bool", Kind::boolean},    {"byte", Kind::uint8},    {"char", Kind::uint8},
    {"int8", Kind::int8},       {"uint8", Kind::uint8},   {"int16", Kind::int16},
    {"uint16", Kind::uint16},   {"int32", Kind::int32},   {"uint32", Kind::uint32},
    {"int64", Kind::int64},     {"uint64", Kind::uint64}, {"float32", Kind::float32},
    {"float64", Kind::float64}, {"string", Kind::text}};

class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : where_(where) {
    first_ = split(text, sections_);
  }

  Schema parse(const std::string& type, bool has_text) {
    if (has_text) {
      sections_[type] = first_;
    }
    type_of(type);
    return std::move(schema_);
  }

 private:
  [[noreturn]] void fail_line(std::string_view line, const char* what) const {
    fail(Code::format, where_, ": its definition has the line ", quote(line), ", which ", what);
  }

  std::size_t type_of(const std::string& name) {
    const auto found = types_.find(name);
    if (found != types_.end()) {
      if (open_.count(name) != 0)
        fail(Code::format, where_, ": the type ", quote(name), " contains itself");
      return found->second;
    }
    auto section = std::as_const(sections_).find(name);
    if (section == sections_.cend()) {
      section = known_sections().find(name);
      if (section == known_sections().end())
        fail(Code::unsupported, where_, ": the type ", quote(name),
             " is not defined in the file, and not known");
    }
    if (schema_.size() >= most_types || open_.size() >= 32)
      fail(Code::format, where_, ": its definition has more types, or deeper ones, than are read");
    const std::size_t index = schema_.size();
    types_[name] = index;
    open_.insert(name);
    schema_.push_back({name, {}});
    std::set<std::string, std::less<>> names;
    std::string_view text = section->second;
    while (!text.empty()) {
      std::string_view line = take_line(text);
      line = trimmed(line.substr(0, line.find('#')));
      if (line.empty()) continue;
      std::string_view rest = line;
      const std::string_view type = take_word(rest);
      std::string_view field = rest.substr(0, rest.find_first_of(" \t="));
      if (trimmed(rest.substr(field.size())).substr(0, 1) == "=") continue;  // a constant
      if (!is_name(field)) fail_line(line, "has no name of a field");
      if (!names.emplace(field).second) fail_line(line, "names a field for the second time");
      Field made = field_of(line, type, name);
      made.name = field;
      schema_[index].fields.push_back(std::move(made));
    }
    // As ROS sends it: no message is empty.
    if (schema_[index].fields.empty())
      schema_[index].fields.push_back({"structure_needs_at_least_one_member", Kind::uint8});
    open_.erase(name);
    return index;
  }

  static std::string_view take_word(std::string_view& rest) {
    const std::size_t end = std::min(rest.find_first_of(blanks), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest = trimmed(rest.substr(end));
    return word;
  }

  Field field_of(std::string_view line, std::string_view type, const std::string& inside) {
    Field field;
    const std::size_t bracket = type.find('[');
    if (bracket != std::string_view::npos) {
      if (type.back() != ']') fail_line(line, "has no type");
      std::string_view count = type.substr(bracket + 1, type.size() - bracket - 2);
      const bool bounded = count.substr(0, 2) == "<=";
      if (bounded) count.remove_prefix(2);
      const std::int64_t number = count_of(count);
      if (!count.empty() || bounded) {
        if (number < 1) fail_line(line, "has no number of elements");
      }
      field.many = count.empty() || bounded ? Field::sequence : Field::array;
      if (field.many == Field::array) field.count = static_cast<std::uint64_t>(number);
      type = type.substr(0, bracket);
    }
    const std::size_t bound = type.find("<=");
    if (bound != std::string_view::npos) {
      if (type.substr(0, bound) != "string" && type.substr(0, bound) != "wstring")
        fail_line(line, "has no type");
      type = type.substr(0, bound);
    }
    if (type == "wstring")
      fail(Code::unsupported, where_, ": its definition has wide strings, which are not read");
    for (const Primitive& primitive : primitives) {
      if (primitive.name != type) continue;
      field.kind = primitive.kind;
      return field;
    }
    if (type.empty() || type.find_first_of("<>=]") != std::string_view::npos)
      fail_line(line, "has no type");
    std::string name = short_name(type);
    if (type == "Header") {
      name = "std_msgs/Header";
    } else if (name.find('/') == std::string::npos) {
      name = inside.substr(0, inside.find('/') + 1) + name;
    }
    field.kind = Kind::message;
    field.type = type_of(name);
    return field;
  }

  const std::string& where_;
  Sections sections_;
  std::string_view first_;
  Schema schema_;
  std::map<std::string, std::size_t> types_;
  std::set<std::string> open_;  // being read
};

}  // namespace

std::string short_name(std::string_view type) {
  const std::size_t first = type.find('/'), last = type.rfind('/');
  if (first == std::string_view::npos || first == last) return std::string(type);
  return std::string(type.substr(0, first)) + std::string(type.substr(last));
}

Schema parse_schema(const std::string& type, std::string_view text, const std::string& where) {
  return Parser(text, where).parse(short_name(type), !text.empty());
}

}  // namespace td::bags
