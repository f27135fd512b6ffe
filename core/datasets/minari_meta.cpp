#include "core/datasets/minari_meta.h"

#include "core/formats/json_text.h"

namespace td::datasets {

MinariMeta::MinariMeta(Plain given, std::string place)
    : members(std::move(given)), where(std::move(place)) {
  if (const Plain* found = members.find("minari_version", Plain::text))
    version = std::string(found->characters());
  observations = space("observation_space");
  actions = space("action_space");
}

Plain MinariMeta::space(const char* name) const {
  const Plain* text = members.find(name, Plain::text);
  if (text == nullptr) return {};
  return read_json(text->characters(), where + ": " + name, 64, Repeated::kept);
}

std::vector<std::int64_t> MinariMeta::lengths(const Source& set) const {
  std::vector<std::int64_t> lengths;
  std::int64_t all = 0;
  for (std::int64_t i = 0; i < set.episodes; ++i) {
    lengths.push_back(set.length(i));
    if (__builtin_add_overflow(all, lengths.back(), &all)) all = -1;
  }
  const Plain* steps = members.find("total_steps", Plain::integer);
  if (steps != nullptr && steps->integral() != all) {
    fail(Code::format, where, ": total_steps is ", steps->integral(), ", and the episodes have ",
         all, " steps");
  }
  return lengths;
}

}  // namespace td::datasets
