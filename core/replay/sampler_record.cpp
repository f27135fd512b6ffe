#include "core/replay/sampler_record.h"

#include "core/formats/json_text.h"

#include <utility>

namespace td {

namespace {

constexpr std::pair<ReplaySampling, std::string_view> names[] = {
    {ReplaySampling::random, "random"},
    {ReplaySampling::without_replacement, "without_replacement"},
    {ReplaySampling::prioritized, "prioritized"},
    {ReplaySampling::slices, "slices"},
    {ReplaySampling::slices_without_replacement, "slices_without_replacement"},
    {ReplaySampling::prioritized_slices, "prioritized_slices"},
};

using Numbers = std::pair<const char*, std::int64_t ReplayOptions::*>;
constexpr Numbers numbers[] = {{"num_slices", &ReplayOptions::num_slices},
                               {"span_begin", &ReplayOptions::span_begin},
                               {"span_end", &ReplayOptions::span_end},
                               {"n_steps", &ReplayOptions::steps}};
using Flags = std::pair<const char*, bool ReplayOptions::*>;
constexpr Flags flags[] = {{"mark_ends", &ReplayOptions::mark_ends},
                           {"by_slice", &ReplayOptions::by_slice},
                           {"largest_within", &ReplayOptions::largest_within}};

using Key = std::vector<std::string>;

constexpr bool is_of_slices(const Numbers& number) noexcept {
  return number.second != &ReplayOptions::steps;
}

Plain plain_key(const Key& key) {
  std::vector<Plain> items;
  for (const std::string& name : key) items.push_back(Plain::of_text(name));
  return Plain::of_list(std::move(items));
}

Plain plain_keys(const std::vector<Key>& keys) {
  std::vector<Plain> items;
  for (const Key& key : keys) items.push_back(plain_key(key));
  return Plain::of_list(std::move(items));
}

Key key_in(const Plain& json) {
  Key key;
  for (const Plain& name : json.items()) {
    if (!name.is(Plain::text) || name.characters().empty()) return {};
    key.emplace_back(name.characters());
  }
  return key;
}

}  // namespace

std::string sampler_record(const ReplayOptions& options) {
  PlainBuilder json;
  json.open();
  bool says_more = of_slices(options.sampling) || options.steps != 0 ||
                   !options.slices.ends.empty() || !options.slices.episode.empty();
  for (const auto& [sampling, name] : names) {
    if (sampling != options.sampling) continue;
    json.name("name");
    json.add(Plain::of_text(name));
  }
  const auto number = [&](const char* name, std::int64_t value) {
    if (value == 0) return;
    json.name(name);
    json.add(Plain::of_integer(value));
  };
  const auto flag = [&](const char* name, bool value) {
    if (!value) return;
    says_more = true;
    json.name(name);
    json.add(Plain::of_truth(true));
  };
  number("slice_len", options.slices.length);
  for (const auto& [name, member] : numbers) number(name, options.*member);
  flag("short", options.slices.short_ones);
  for (const auto& [name, member] : flags) flag(name, options.*member);
  if (!options.slices.episode.empty()) {
    json.name("episode");
    json.add(plain_key(options.slices.episode));
  }
  if (!options.slices.ends.empty()) {
    json.name("ends");
    json.add(plain_keys(options.slices.ends));
  }
  if (options.steps != 0) {
    json.name("gamma");
    json.add(Plain::of_real(options.gamma));
    json.name("rewards");
    json.add(plain_keys(options.rewards));
    if (!options.mask.empty()) {
      json.name("mask");
      json.add(plain_key(options.mask));
    }
  }
  if (!options.priority.empty()) {
    says_more = true;
    json.name("priority_key");
    json.add(plain_key(options.priority));
  }
  json.close(/*is_object=*/true);
  return says_more ? json_text(json.take()) : std::string();
}

ReplayOptions read_sampler_record(const Plain& json, const std::string& where) {
  const auto refuse = [&](const char* name) {
    fail(Code::format, where, " has a \"sampler\" whose \"", name, "\" cannot be used");
  };
  ReplayOptions result;
  const Plain* name = json.find("name", Plain::text);
  for (const auto& [sampling, known] : names)
    if (name != nullptr && name->characters() == known) result.sampling = sampling;
  if (result.sampling == ReplaySampling::as_stored) refuse("name");
  const auto number = [&](const char* member, std::int64_t& into) {
    const Plain* value = json.find(member);
    if (value != nullptr && !value->is(Plain::integer)) refuse(member);
    if (value != nullptr) into = value->integral();
  };
  const auto flag = [&](const char* member, bool& into) {
    const Plain* value = json.find(member);
    if (value != nullptr && !value->is(Plain::boolean)) refuse(member);
    into = value != nullptr && value->truth();
  };
  const auto key = [&](const char* member, const Plain& value) {
    Key found = key_in(value);
    if (found.empty()) refuse(member);
    return found;
  };
  number("slice_len", result.slices.length);
  for (const auto& [member, into] : numbers) number(member, result.*into);
  flag("short", result.slices.short_ones);
  for (const auto& [member, into] : flags) flag(member, result.*into);
  if (const Plain* episode = json.find("episode")) result.slices.episode = key("episode", *episode);
  if (const Plain* priority = json.find("priority_key"))
    result.priority = key("priority_key", *priority);
  if (const Plain* ends = json.find("ends"))
    for (const Plain& end : ends->items()) result.slices.ends.push_back(key("ends", end));
  if (const Plain* gamma = json.find("gamma")) {
    if (!gamma->is_number()) refuse("gamma");
    result.gamma = gamma->number();
  }
  if (const Plain* rewards = json.find("rewards"))
    for (const Plain& reward : rewards->items()) result.rewards.push_back(key("rewards", reward));
  if (const Plain* mask = json.find("mask")) result.mask = key("mask", *mask);
  try {
    return checked(std::move(result));
  } catch (const Error& error) {
    if (error.code() != Code::invalid_argument) throw;
    fail(Code::format, where, " has a \"sampler\" that cannot be: ", error.what());
  }
}

ReplayOptions with_record(ReplayOptions options, const ReplayOptions& record) {
  options.sampling = record.sampling;
  SliceOptions given = options.slices;
  if (options.slices.length == 0 && options.num_slices == 0) {
    options.slices = record.slices;
    for (const Numbers& number : numbers)
      if (is_of_slices(number)) options.*number.second = record.*number.second;
  }
  if (!given.ends.empty() || !given.episode.empty()) {
    options.slices.ends = std::move(given.ends);
    options.slices.episode = std::move(given.episode);
  }
  if (options.steps == 0) {
    options.steps = record.steps;
    options.gamma = record.gamma;
    options.rewards = record.rewards;
    options.mask = record.mask;
  }
  for (const auto& [name, member] : flags) options.*member = options.*member || record.*member;
  if (options.priority.empty()) options.priority = record.priority;
  return options;
}

}  // namespace td
