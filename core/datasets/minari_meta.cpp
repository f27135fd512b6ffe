#include "core/datasets/minari_meta.h"

#include "core/datasets/save.h"
#include "core/formats/json_text.h"
#include "core/tree/tensordict.h"

#include <ATen/ATen.h>

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

namespace {

// A text of JSON inside: what is written in its place, and why not as it was.
Plain mended_text(std::string_view name, const Plain& value, std::string& why) {
  const auto gone = [&](const char* reason) {
    why = text_of(quote(name), reason);
    return Plain();
  };
  if (!value.is(Plain::text)) return gone(" is no text, and is left out");
  Plain inner;
  try {
    inner = read_json(value.characters(), std::string(name), 64, Repeated::kept);
  } catch (const Error&) {
    return gone(" holds no JSON, and is left out");
  }
  if (!inner.is(Plain::object)) return gone(" holds no object, and is left out");
  std::vector<std::pair<std::string, Plain>> more;
  if (name == "env_spec") {
    if (inner.find("id") == nullptr) return gone(" has no \"id\", and is left out");
    if (inner.find("entry_point") == nullptr) more.emplace_back("entry_point", Plain());
    if (inner.find("additional_wrappers") == nullptr)
      more.emplace_back("additional_wrappers", Plain::of_list({}));
  }
  const Plain plain = without_words(inner);
  if (more.empty() && plain == inner) return value;
  why = text_of(quote(name), more.empty() ? " gets 1e999 for Infinity" : " gets what it lacks");
  std::vector<std::pair<std::string, Plain>> members;
  for (std::size_t i = 0; i < plain.items().size(); ++i)
    members.emplace_back(plain.name(i), plain.items()[i]);
  members.insert(members.end(), more.begin(), more.end());
  return Plain::of_text(python_json(object_of(members)));
}

}  // namespace

Plain mended_members(const Plain& members, const std::string& file, const MendFn& told) {
  std::vector<std::pair<std::string, Plain>> kept;
  for (std::size_t i = 0; i < members.items().size(); ++i) {
    const std::string_view name = members.name(i);
    Plain value = without_words(members.items()[i]);
    if (name == "total_episodes" || name == "total_steps") continue;
    std::string why;
    if (name == "observation_space" || name == "action_space" || name == "env_spec")
      value = mended_text(name, value, why);
    const bool texts = name == "data_format" || name == "dataset_id" || name == "minari_version";
    const bool lists = name == "author" || name == "author_email";
    if ((texts && !value.is(Plain::text)) ||
        (lists && !value.is(Plain::list) && !value.is(Plain::text))) {
      why = text_of(quote(name), " is left out");
      value = Plain();
    }
    if (!why.empty()) told(file, why);
    if (!value.is(Plain::null)) kept.emplace_back(name, std::move(value));
  }
  return object_of(kept);
}

void MinariMeta::require_total(const std::vector<std::int64_t>& lengths) const {
  std::int64_t all = 0;
  for (const std::int64_t length : lengths) {
    if (__builtin_add_overflow(all, length, &all)) all = -1;
  }
  const Plain* steps = members.find("total_steps", Plain::integer);
  if (steps != nullptr && steps->integral() != all) {
    fail(Code::format, where, ": total_steps is ", steps->integral(), ", and the episodes have ",
         all, " steps");
  }
}

std::vector<std::pair<const char*, double>> reward_sums(const TensorDict& rows) {
  const at::Tensor* stored = rows.stored({"next", "reward"});
  if (stored == nullptr || stored->numel() == 0) return {};
  const at::Tensor rewards = stored->to(at::kDouble);
  return {{"rewards_sum", rewards.sum().item<double>()},
          {"rewards_mean", rewards.mean().item<double>()},
          {"rewards_std", rewards.std(false).item<double>()},
          {"rewards_max", rewards.max().item<double>()},
          {"rewards_min", rewards.min().item<double>()}};
}

}  // namespace td::datasets
