#include "core/datasets/made_space.h"

#include "core/tensor/dtype.h"
#include "core/tree/bytes_value.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace td::datasets {

namespace {

Plain text_plain(std::string_view text) { return Plain::of_text(text); }

// Lists nested as the shape, of one value; a value alone for no dimension.
Plain filled(SizesView shape, const Plain& value) {
  Plain result = value;
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    result = Plain::of_list(std::vector<Plain>(static_cast<std::size_t>(shape[dim]), result));
  }
  return result;
}

template <class T>
std::pair<Plain, Plain> limits() {
  return {Plain::of_integer(std::numeric_limits<T>::min()),
          Plain::of_integer(std::numeric_limits<T>::max())};
}

std::pair<Plain, Plain> limits_of(c10::ScalarType dtype) {
  switch (dtype) {
    case at::kByte: return limits<std::uint8_t>();
    case at::kChar: return limits<std::int8_t>();
    case at::kShort: return limits<std::int16_t>();
    case at::kInt: return limits<std::int32_t>();
    case at::kLong: return limits<std::int64_t>();
    default: return {Plain::of_digits("-Infinity"), Plain::of_digits("Infinity")};
  }
}

// The characters of a text in UTF-8.
std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> found;
  for (const char byte : text) {
    const bool more = (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
    if (more && !found.empty()) {
      found.back() += byte;
    } else {
      found.emplace_back(1, byte);
    }
  }
  return found;
}

}  // namespace

void MadeSpace::add(const OwnedKey& key, const Rows& rows) {
  Part& part = parts_[key];
  if (rows.is_tensor()) {
    part.dtype = rows.tensor.scalar_type();
    part.shape = Sizes(rows.tensor.sizes().begin() + 1, rows.tensor.sizes().end());
    if (part.dtype == at::kLong && part.shape.empty() && rows.tensor.numel() > 0) {
      const auto low = rows.tensor.min().item<std::int64_t>();
      const auto high = rows.tensor.max().item<std::int64_t>();
      part.lowest = part.any ? std::min(part.lowest, low) : low;
      part.highest = part.any ? std::max(part.highest, high) : high;
      part.any = true;
    }
    return;
  }
  for (const Plain& value : rows.values) {
    part.is_file = part.is_file || bytes_of(value);
    const std::vector<std::string> found = characters_of(value.characters());
    part.shortest = part.any ? std::min(part.shortest, found.size()) : found.size();
    part.longest = std::max(part.longest, found.size());
    part.characters.insert(found.begin(), found.end());
    part.any = true;
  }
}

void MadeSpace::add_space(const OwnedKey& key, const Plain& space) {
  const auto number = [&](const char* name) {
    const Plain* found = space.find(name, Plain::integer);
    return found == nullptr ? 0 : found->integral();
  };
  const auto is = [&](const char* type) {
    const Plain* found = space.find("type", Plain::text);
    return found != nullptr && found->characters() == type;
  };
  const Plain* parts = space.find("subspaces", Plain::object);
  for (std::size_t i = 0; parts != nullptr && i < parts->items().size(); ++i)
    add_space(joined(key, {std::string(parts->name(i))}), parts->items()[i]);
  std::int64_t highest = 0;
  if (is("Discrete") && !__builtin_add_overflow(number("start"), number("n") - 1, &highest)) {
    Part& part = parts_[key];
    part.dtype = at::kLong;
    part.lowest = number("start");
    part.highest = highest;
    part.any = true;
  }
  const Plain* characters = space.find("charset", Plain::text);
  if (is("Text") && characters != nullptr) {
    Part& part = parts_[key];
    part.shortest = static_cast<std::size_t>(number("min_length"));
    part.longest = static_cast<std::size_t>(number("max_length"));
    const std::vector<std::string> found = characters_of(characters->characters());
    part.characters.insert(found.begin(), found.end());
    part.any = true;
  }
}

Plain MadeSpace::take(Draft& draft) const { return below(draft, {}); }

Plain MadeSpace::below(Draft& draft, const OwnedKey& key) const {
  const auto exact = parts_.find(key);
  if (exact != parts_.end()) return space_of(draft, exact->second, key);
  PlainBuilder made;
  made.open();
  made.name("type");
  made.add(text_plain("Dict"));
  made.name("subspaces");
  made.open();
  std::string last;
  bool any = false;
  for (const auto& part : parts_) {  // sorted, so that those of a name follow each other
    const OwnedKey& one = part.first;
    if (one.size() <= key.size() || !std::equal(key.begin(), key.end(), one.begin())) continue;
    const std::string& name = one[key.size()];
    if (any && name == last) continue;
    any = true;
    last = name;
    made.name(name);
    made.add(below(draft, joined(key, {name})));
  }
  made.close(true);
  made.close(true);
  return made.take();
}

Plain MadeSpace::space_of(Draft& draft, const Part& part, const OwnedKey& key) {
  if (part.dtype == c10::ScalarType::Undefined) {
    if (part.is_file) {
      const std::vector<std::string_view> path(key.begin(), key.end());
      draft.lose("the size of the pictures " + show_path(path) +
                 ", which only observation_space of the metadata tells");
    }
    std::string all;
    for (const std::string& one : part.characters) all += one;
    return object_of({{"type", text_plain("Text")},
                      {"max_length", Plain::of_integer(static_cast<std::int64_t>(
                                         std::max<std::size_t>(1, part.longest)))},
                      {"min_length", Plain::of_integer(static_cast<std::int64_t>(part.shortest))},
                      {"charset", text_plain(all)}});
  }
  if (part.dtype == at::kBool && !part.shape.empty())
    return object_of({{"type", text_plain("MultiBinary")}, {"n", list_of(part.shape)}});
  if (part.dtype == at::kBool || (part.dtype == at::kLong && part.shape.empty())) {
    const std::int64_t start = std::min<std::int64_t>(0, part.lowest);
    std::int64_t count = part.dtype == at::kBool ? 2 : 0;
    const bool fits = count != 0 || (!__builtin_sub_overflow(part.highest, start, &count) &&
                                     !__builtin_add_overflow(count, 1, &count));
    if (fits) {
      return object_of({{"type", text_plain("Discrete")},
                        {"dtype", text_plain("int64")},
                        {"start", Plain::of_integer(start)},
                        {"n", Plain::of_integer(count)}});
    }
  }
  const auto [low, high] = limits_of(part.dtype);
  return object_of({{"type", text_plain("Box")},
                    {"dtype", text_plain(dtype_name(part.dtype).substr(6))},
                    {"shape", list_of(part.shape)},
                    {"low", filled(part.shape, low)},
                    {"high", filled(part.shape, high)}});
}

}  // namespace td::datasets
