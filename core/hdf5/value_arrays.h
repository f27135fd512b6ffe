// core/hdf5/value_arrays.h: nested lists of non-tensor values as arrays, where they are rectangular.
#pragma once

#include "core/formats/plain.h"
#include "core/hdf5/library.h"
#include "core/tree/bytes_value.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace td::hdf5 {

// Collects rectangular nested lists, no deeper than reading allows; `one` takes each other value and returns
// whether it can.
template <class One>
bool collect(const Plain& value, std::size_t depth, std::vector<hsize_t>& sizes, bool& begun,
             One&& one) {
  if (depth > H5S_MAX_RANK - 1) return false;
  if (value.is(Plain::list)) {
    const Span<Plain> items = value.items();
    if (depth == sizes.size()) {
      if (begun) return false;
      sizes.push_back(items.size());
    }
    if (items.empty() || sizes[depth] != items.size()) return false;
    return std::all_of(items.begin(), items.end(), [&](const Plain& item) {
      return collect(item, depth + 1, sizes, begun, one);
    });
  }
  begun = true;
  return depth == sizes.size() && one(value);
}

// A value that NumPy would convert to an array: numbers of one kind.
struct Numbers {
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  std::vector<hsize_t> sizes;
  std::vector<char> data;

  bool take(const Plain& value) {
    const auto append = [this](c10::ScalarType given, auto number) {
      if (dtype == c10::ScalarType::Undefined) dtype = given;
      const char* bytes = reinterpret_cast<const char*>(&number);
      data.insert(data.end(), bytes, bytes + sizeof number);
      return dtype == given;
    };
    if (value.is(Plain::boolean)) return append(c10::ScalarType::Bool, value.truth());
    if (value.is(Plain::integer)) return append(c10::ScalarType::Long, value.integral());
    const bool whole = value.characters().find_first_not_of("-0123456789") == std::string::npos;
    if (!value.is(Plain::real) || whole) return false;  // an integer beyond 64 bits
    return append(c10::ScalarType::Double, value.number());
  }
};

struct Texts {
  std::vector<hsize_t> sizes;
  std::vector<std::string> data;

  bool take(const Plain& value) {
    if (!value.is(Plain::text)) return false;
    if (value.characters().find('\0') != std::string::npos) return false;
    data.emplace_back(value.characters());
    return true;
  }
};

// Bytes, which a value holds as an object of their base64.
struct Files {
  std::vector<hsize_t> sizes;
  std::vector<std::string> data;

  bool take(const Plain& value) {
    std::optional<std::string> bytes = bytes_of(value);
    if (bytes) data.push_back(*std::move(bytes));
    return bytes.has_value();
  }
};

// nullopt if the value has another form.
template <class Kind>
std::optional<Kind> collected(const Plain& value) {
  Kind kind;
  bool begun = false;
  if (!collect(value, 0, kind.sizes, begun, [&](const Plain& one) { return kind.take(one); })) {
    return std::nullopt;
  }
  return kind;
}

}  // namespace td::hdf5
