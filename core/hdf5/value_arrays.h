// core/hdf5/value_arrays.h: nested lists of non-tensor values as arrays, where they are rectangular.
#pragma once

#include "core/formats/json_tree.h"
#include "core/hdf5/library.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace td::hdf5 {

// Collects rectangular nested lists, no deeper than reading allows; `one` takes each other value and returns
// whether it can.
template <class One>
bool collect(const json::Tree& value, std::size_t depth, std::vector<hsize_t>& sizes, bool& begun,
             One&& one) {
  if (depth > H5S_MAX_RANK - 1) return false;
  if (value.kind == json::Tree::list) {
    const std::vector<json::Tree>& items = value.items;
    if (depth == sizes.size()) {
      if (begun) return false;
      sizes.push_back(items.size());
    }
    if (items.empty() || sizes[depth] != items.size()) return false;
    return std::all_of(items.begin(), items.end(), [&](const json::Tree& item) {
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

  bool take(const json::Tree& value) {
    const auto append = [this](c10::ScalarType given, auto number) {
      if (dtype == c10::ScalarType::Undefined) dtype = given;
      const char* bytes = reinterpret_cast<const char*>(&number);
      data.insert(data.end(), bytes, bytes + sizeof number);
      return dtype == given;
    };
    if (value.kind == json::Tree::boolean) return append(c10::ScalarType::Bool, value.truth);
    if (value.kind == json::Tree::integer) return append(c10::ScalarType::Long, value.integral);
    const bool has_point = value.characters.find_first_of(".eE") != std::string::npos;
    if (value.kind != json::Tree::real || !has_point) return false;  // an integer beyond 64 bits
    return append(c10::ScalarType::Double, value.number());
  }
};

struct Texts {
  std::vector<hsize_t> sizes;
  std::vector<const char*> data;  // point into the JSON

  bool take(const json::Tree& value) {
    if (value.kind != json::Tree::text) return false;
    if (value.characters.find('\0') != std::string::npos) return false;
    data.push_back(value.characters.c_str());
    return true;
  }
};

// nullopt if the value has another form.
template <class Kind>
std::optional<Kind> collected(const json::Tree& value) {
  Kind kind;
  bool begun = false;
  if (!collect(value, 0, kind.sizes, begun,
               [&](const json::Tree& one) { return kind.take(one); })) {
    return std::nullopt;
  }
  return kind;
}

}  // namespace td::hdf5
