// Members of metadata, and numbers in names.
#include "core/datasets/source.h"
#include "core/formats/json_text.h"
#include "core/tree/non_tensor.h"

#include <algorithm>
#include <map>
#include <set>

namespace td::datasets {

namespace {

using Members = std::vector<std::pair<OwnedKey, Plain>>;

void add_nested(PlainBuilder& to, const Members& members, std::size_t depth) {
  std::vector<Members> groups;
  std::map<std::string, std::size_t> found;
  for (const auto& member : members) {
    const auto at = found.emplace(member.first[depth], groups.size());
    if (at.second) groups.emplace_back();
    groups[at.first->second].push_back(member);
  }
  to.open();
  for (const Members& group : groups) {
    to.name(group[0].first[depth]);
    if (group[0].first.size() == depth + 1) {
      to.add(group[0].second);
    } else {
      add_nested(to, group, depth + 1);
    }
  }
  to.close(true);
}

}  // namespace

Plain metadata_member(const TensorDict& metadata, std::string_view name) {
  const std::optional<Value> found = entry_of(metadata.node(), name);
  const Plain* value = found && found->is_node() ? one_value(*found->node()) : nullptr;
  return value == nullptr ? Plain() : *value;
}

void put_members(TensorDict& td, const Plain& object) {
  for (std::size_t i = 0; i < object.items().size(); ++i)
    td.set_non_tensor({object.name(i)}, object.items()[i]);
}

Plain without_words(const Plain& value) {
  if (value.is(Plain::real)) {
    const std::string_view digits = value.characters();
    return digits == "Infinity"    ? Plain::of_digits("1e999")
           : digits == "-Infinity" ? Plain::of_digits("-1e999")
                                   : value;
  }
  const bool is_object = value.is(Plain::object);
  if (!is_object && !value.is(Plain::list)) return value;
  PlainBuilder made;
  made.open();
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    if (is_object) made.name(value.name(i));
    made.add(without_words(value.items()[i]));
  }
  made.close(is_object);
  return made.take();
}

Plain nested_members(const Plain& object) {
  constexpr std::size_t deepest = 32;
  Members members;
  std::set<OwnedKey> keys, above;
  for (std::size_t i = 0; i < object.items().size(); ++i) {
    const std::string_view name = object.name(i);
    OwnedKey key;
    for (std::size_t at = 0; at <= name.size() && key.size() < deepest;) {
      if (!key.empty()) above.insert(key);
      const std::size_t end =
          key.size() + 1 == deepest ? name.size() : std::min(name.find('/', at), name.size());
      key.emplace_back(name.substr(at, end - at));
      at = end + 1;
    }
    keys.insert(key);
    members.emplace_back(std::move(key), object.items()[i]);
  }
  // With both "a" and "a/b" they stay names.
  for (const OwnedKey& key : keys) {
    if (above.count(key) != 0) return object;
  }
  PlainBuilder result;
  add_nested(result, members, 0);
  return result.take();
}

std::int64_t number_of(std::string_view name) noexcept {
  const std::string_view digits = name.substr(name.rfind('_') + 1);  // npos + 1 is 0
  std::int64_t number = 0;
  if (digits.empty() || digits.size() > 18) return -1;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return -1;
    number = 10 * number + (digit - '0');
  }
  return number;
}

}  // namespace td::datasets
