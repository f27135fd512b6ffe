#include "core/datasets/verify_members.h"

#include "core/formats/json_text.h"

namespace td::datasets {

namespace {

const char* word_of(Plain::Kind kind) {
  switch (kind) {
    case Plain::null: return "null";
    case Plain::boolean: return "true or false";
    case Plain::integer: return "an integer";
    case Plain::real: return "a number with a fraction";
    case Plain::text: return "a text";
    case Plain::list: return "a list";
    default: return "an object";
  }
}

std::string shortened(const Plain& value) {
  constexpr std::size_t most = 60;
  const std::string text = json_text(value);
  return text.size() <= most ? text : std::string(word_of(value.kind()));
}

// Where a word such as NaN is; empty without one.
std::string word_below(const Plain& value, const std::string& place, std::string& word) {
  if (value.is(Plain::real)) {
    const std::string_view digits = value.characters();
    const bool found = digits == "NaN" || digits == "Infinity" || digits == "-Infinity";
    if (found) word = std::string(digits);
    return found ? place : std::string();
  }
  if (!value.is(Plain::list) && !value.is(Plain::object)) return "";
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    const std::string below = value.is(Plain::object)
                                  ? place + (place.empty() ? "" : "/") + std::string(value.name(i))
                                  : place;
    const std::string found = word_below(value.items()[i], below, word);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace

const Plain* member(Problems& problems, const std::string& file, const Plain& object,
                    const char* name, Plain::Kind kind, bool mandatory) {
  const Plain* found = object.find(name);
  if (found == nullptr) {
    if (mandatory) problems.add({file}, "has no ", quote(name), ", which is ", word_of(kind));
    return nullptr;
  }
  if (found->is(kind)) return found;
  problems.add({file}, quote(name), " is ", shortened(*found), "; it should be ", word_of(kind));
  return nullptr;
}

void note_words(Problems& problems, const std::string& file, const Plain& value,
                const std::string& place) {
  std::string word;
  const std::string found = word_below(value, place, word);
  if (found.empty()) return;
  const std::string text = text_of(quote(found), " has ", word,
                                   ", which Python writes and strict readers of JSON refuse");
  word == "NaN" ? problems.note({file}, text) : problems.note_mendable({file}, text);
}

Plain inner_json(Problems& problems, const std::string& file, const Plain& text, const char* name) {
  try {
    return read_json(text.characters(), name, 64, Repeated::kept);
  } catch (const Error& failure) {
    if (failure.code() != Code::format) throw;
    problems.add({file}, quote(name), " holds no JSON: ", failure.what());
    return {};
  }
}

}  // namespace td::datasets
