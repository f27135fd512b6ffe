// What the library writes beside the tensors of a safetensors file: batch sizes, values, and names that hold dots.
#include "light_flat.h"
#include "light_json.h"

namespace light {

namespace {

using Json = nlohmann::json;

constexpr std::size_t max_text = std::size_t{1} << 20;
constexpr int max_levels_inside = 6;

const Json &list_of(const Json &from, const char *name) {
  static const Json none = Json::array();
  const auto found = from.find(name);
  if (found == from.end()) return none;
  if (!found->is_array()) throw NotPlain();
  return *found;
}

Path path_of(const Json &from) {
  Path path;
  if (!from.is_object() || from.count("path") == 0) throw NotPlain();
  for (const Json &name : list_of(from, "path")) {
    if (!name.is_string()) throw NotPlain();
    path.push_back(name.get<std::string>());
  }
  return path;
}

std::string text_of(const Json &from, const char *name) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_string()) throw NotPlain();
  return found->get<std::string>();
}

Sizes batch_of(const Json &from) {
  Sizes batch;
  if (from.count("batch_size") == 0 || from.count("names") != 0) throw NotPlain();
  for (const Json &size : list_of(from, "batch_size")) {
    if (!size.is_number_unsigned() || batch.size() == max_dims) throw NotPlain();
    const auto count = size.get<std::uint64_t>();
    if (count > std::uint64_t{1} << 62) throw NotPlain();
    batch.push_back(static_cast<std::int64_t>(count));
  }
  return batch;
}

}  // namespace

Extras parse_extras(const std::string &text) {
  if (text.size() > max_text) throw NotPlain();
  const Json json = Json::parse(text, [](int depth, Json::parse_event_t, const Json &) -> bool {
    if (depth > max_levels_inside) throw NotPlain();
    return true;
  });
  if (!json.is_object() || json.count("format") == 0 || !json.at("format").is_number_unsigned() ||
      json.at("format") != 1)
    throw NotPlain();
  Extras result;
  for (const Json &entry : list_of(json, "dicts")) {
    result.dicts.push_back({path_of(entry), batch_of(entry)});
    if (result.dicts.back().path.empty() != (result.dicts.size() == 1)) throw NotPlain();
  }
  for (const Json &entry : list_of(json, "values")) {
    Path path = path_of(entry);
    const auto each = entry.find("each");
    if (each == entry.end() || !each->is_boolean() || each->get<bool>()) throw NotPlain();
    result.values.push_back({std::move(path), compact(text_of(entry, "json"))});
  }
  for (const Json &entry : list_of(json, "paths"))
    result.paths[text_of(entry, "name")] = path_of(entry);
  return result;
}

}  // namespace light
