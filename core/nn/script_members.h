// core/nn/script_members.h: the members of an object in "tensordict.json". Internal.
#pragma once

#include "core/formats/digits.h"
#include "core/formats/plain.h"
#include "core/nn/probabilistic.h"
#include "core/tree/paths.h"

#include <algorithm>
#include <cmath>

namespace td {

// The members of one object, read by name; unread members are unknown.
class Members {
 public:
  Members(const Plain& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is(Plain::object)) fail(Code::format, where_, " is no object");
    read_.resize(object.names().size());
  }
  const std::string& where() const noexcept { return where_; }

  const Plain* find(std::string_view name) {
    const Plain* found = object_.find(name);
    if (found != nullptr) read_[static_cast<std::size_t>(found - object_.items().data())] = true;
    return found;
  }
  const Plain& wanted(std::string_view name) {
    const Plain* found = find(name);
    if (found == nullptr) fail(Code::format, where_, " lacks ", quote(name));
    return *found;
  }
  void refuse_unknown() const {
    const auto at = std::find(read_.begin(), read_.end(), false);
    if (at == read_.end()) return;
    fail(Code::format, where_, " has the unknown member ",
         quote(object_.name(static_cast<std::size_t>(at - read_.begin()))));
  }

  // Leave `to` unchanged if the member is missing.
  void read(std::string_view name, std::string& to) {
    if (const Plain* found = of_kind(name, Plain::text, "text")) to = found->characters();
  }
  void read(std::string_view name, bool& to) {
    if (const Plain* found = of_kind(name, Plain::boolean, "truth value")) to = found->truth();
  }
  void read(std::string_view name, std::int64_t& to) {
    if (const Plain* found = of_kind(name, Plain::integer, "whole number")) to = found->integral();
  }
  void read(std::string_view name, double& to) {
    const Plain* found = find(name);
    if (found == nullptr) return;
    if (!found->is_number() || !std::isfinite(found->number())) fail_kind(name, "number");
    to = found->number();
  }
  void read(std::string_view name, std::optional<std::uint64_t>& to) {
    const Plain* found = find(name);
    if (found == nullptr) return;
    std::uint64_t seed = 0;
    const bool whole = found->is(Plain::integer) && found->integral() >= 0;
    if (whole) seed = static_cast<std::uint64_t>(found->integral());
    if (!whole && (!found->is(Plain::real) || !parse_digits(found->characters(), seed)))
      fail_kind(name, "whole number from 0 to 2**64 - 1");
    to = seed;
  }
  void read(std::string_view name, KeyPath& to) {
    if (const Plain* found = find(name)) to = key(*found, name);
  }
  void read(std::string_view name, std::optional<KeyPath>& to) {
    if (const Plain* found = find(name)) to = key(*found, name);
  }
  void read(std::string_view name, std::optional<KeyPaths>& to) {
    const Plain* found = find(name);
    if (found == nullptr) return;
    if (!found->is(Plain::list)) fail_kind(name, "list of keys");
    if (found->items().size() > max_keys)
      fail(Code::format, where_, ": ", quote(name), " has more than ", max_keys, " keys");
    to.emplace();
    for (const Plain& one : found->items()) to->push_back(key(one, name));
  }

  [[noreturn]] void fail_kind(std::string_view name, const char* what) const {
    fail(Code::format, where_, ": ", quote(name), " is no ", what);
  }

 private:
  static constexpr std::size_t max_keys = 10000;
  const Plain* of_kind(std::string_view name, Plain::Kind kind, const char* what) {
    const Plain* found = find(name);
    if (found != nullptr && !found->is(kind)) fail_kind(name, what);
    return found;
  }
  // A list of names, or one name.
  KeyPath key(const Plain& value, std::string_view name) const {
    std::vector<std::string> names;
    if (value.is(Plain::text)) {
      names.emplace_back(value.characters());
    } else if (value.is(Plain::list)) {
      for (const Plain& one : value.items()) {
        if (!one.is(Plain::text)) fail_key(name);
        names.emplace_back(one.characters());
      }
    } else {
      fail_key(name);
    }
    KeyPath made(std::move(names));
    check_path(made);
    return made;
  }
  [[noreturn]] void fail_key(std::string_view name) const {
    fail(Code::format, where_, ": ", quote(name), " holds no key, which is a list of names");
  }

  const Plain& object_;
  std::string where_;
  std::vector<bool> read_;
};

// What the object of "then" describes.
FollowerSpec read_follower(const Plain& given, const std::string& where);

// The members "inputs" and "batch" of a network, where they are.
void read_form(Members& members, std::optional<std::vector<TensorForm>>& inputs,
               std::optional<BatchSpec>& batch);

}  // namespace td
