// A meta.json as the light reader takes it: dictionaries and non-tensor values, and nothing else.
#ifndef TDTOOL_LIGHT_META_H
#define TDTOOL_LIGHT_META_H

#include <cstdint>
#include <string>
#include <vector>

namespace light {

constexpr std::size_t max_meta_bytes = std::size_t{1} << 24;

struct Field {
  std::string name;
  bool is_node = false;
  bool has_is_nested = false;
  bool has_shape = false;
  std::string dtype;
  std::vector<std::int64_t> shape;
};

struct Meta {
  bool is_value = false;
  std::string data;  // of a value, as compact JSON
  bool has_batch = false;
  std::vector<std::int64_t> batch;
  std::vector<Field> fields;
};

// Throws NotPlain.
Meta parse_meta(const std::string &text);

}  // namespace light

#endif
