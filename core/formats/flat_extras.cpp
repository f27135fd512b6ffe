#include "core/formats/flat_extras.h"

#include "core/base/error.h"
#include "core/base/quote.h"
#include "core/formats/json_text.h"

#include <algorithm>
#include <utility>

namespace td {

namespace {

constexpr int extras_version = 1;

void append_path(std::string& text, const OwnedPath& path) {
  text += "\"path\":[";
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i != 0) text += ',';
    append_quoted(text, path[i]);
  }
  text += ']';
}

// Parses the text. Only this library writes it: any deviation is damage.
class ExtrasReader {
 public:
  explicit ExtrasReader(const std::string& where) : where_(where) {}

  const Plain& member(const Plain& of, const char* name, Plain::Kind kind) const {
    const Plain* found = of.find(name, kind);
    if (found == nullptr) fail_form();
    return *found;
  }
  std::string_view text(const Plain& of, const char* name) const {
    return member(of, name, Plain::text).characters();
  }
  OwnedPath path(const Plain& of) const {
    OwnedPath result;
    for (const Plain& name : member(of, "path", Plain::list).items()) {
      if (!name.is(Plain::text)) fail_form();
      result.emplace_back(name.characters());
    }
    return result;
  }
  Shape sizes(const Plain& of) const {
    Shape result;
    for (const Plain& size : member(of, "batch_size", Plain::list).items()) {
      if (!size.is(Plain::integer) || size.integral() < 0) fail_form();
      result.push_back(size.integral());
    }
    return result;
  }
  Names names(const Plain& of) const {
    Names result;
    const Plain* list = of.find("names");
    if (list == nullptr) return result;
    for (const Plain& name : list->items()) {
      if (!name.is(Plain::null) && !name.is(Plain::text)) fail_form();
      result.push_back(name.is(Plain::null) ? std::nullopt
                                            : std::optional<std::string>(name.characters()));
    }
    return result;
  }
  // A list of objects; may be missing.
  Span<Plain> list(const Plain& of, const char* name) const {
    const Plain* found = of.find(name);
    if (found == nullptr) return {};
    if (!found->is(Plain::list)) fail_form();
    return found->items();
  }
  [[noreturn]] void fail_form() const {
    fail(Code::format, where_, ": the description beside the tensors has an unexpected form");
  }

 private:
  const std::string& where_;
};

}  // namespace

OwnedPath split_name(std::string_view name, std::string_view separator) {
  OwnedPath path;
  for (std::size_t at = 0;;) {
    const std::size_t end = separator.empty() ? std::string_view::npos : name.find(separator, at);
    path.emplace_back(name.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return path;
    at = end + separator.size();
  }
}

std::string FlatExtras::text() const {
  std::string text = "{\"format\":" + std::to_string(extras_version);
  const auto begin = [&](std::size_t i, const char* name) {
    if (i == 0) text.append(",\"").append(name).append("\":[");
    text += i == 0 ? "{" : ",{";
  };
  for (std::size_t i = 0; i < dicts.size(); ++i) {
    begin(i, "dicts");
    append_path(text, dicts[i].path);
    text += ",\"batch_size\":";
    append_sizes(text, dicts[i].batch);
    if (const Plain names = plain_names(dicts[i].names); !names.is(Plain::null))
      text += ",\"names\":" + json_text(names);
    text += i + 1 == dicts.size() ? "}]" : "}";
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    begin(i, "values");
    append_path(text, data[i].path);
    text += ",\"json\":" + quote(json_text(data[i].value)) +
            ",\"each\":" + (data[i].each ? "true" : "false");
    text += i + 1 == data.size() ? "}]" : "}";
  }
  for (std::size_t i = 0; i < exact.size(); ++i) {
    begin(i, "paths");
    text += "\"name\":" + quote(exact[i].name) + ',';
    append_path(text, exact[i].path);
    text += i + 1 == exact.size() ? "}]" : "}";
  }
  return text + '}';
}

FlatExtras FlatExtras::parse(const std::string& text, const std::string& where) {
  return of(read_json(text, where, 8), where);  // it never nests deeper
}

FlatExtras FlatExtras::of(const Plain& tree, const std::string& where) {
  FlatExtras result;
  const ExtrasReader read(where);
  if (read.member(tree, "format", Plain::integer).integral() != extras_version) {
    fail(Code::unsupported, where, ": the description beside the tensors is of a later version");
  }
  for (const Plain& entry : read.list(tree, "dicts")) {
    Dict dict{read.path(entry), read.sizes(entry), read.names(entry)};
    if (dict.path.empty() != result.dicts.empty()) {
      fail(Code::format, where, ": the batch sizes beside the tensors do not match them");
    }
    result.dicts.push_back(std::move(dict));
  }
  for (const Plain& entry : read.list(tree, "values")) {
    const bool each = read.member(entry, "each", Plain::boolean).truth();
    result.data.push_back({read.path(entry), read_value(read.text(entry, "json"), where), each});
  }
  for (const Plain& entry : read.list(tree, "paths")) {
    result.exact.push_back({std::string(read.text(entry, "name")), read.path(entry)});
  }
  return result;
}

}  // namespace td
