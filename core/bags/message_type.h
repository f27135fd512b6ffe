// core/bags/message_type.h: what the messages of a topic are made of, by the text of its definition.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace td::bags {

enum class Kind : std::uint8_t {
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  text,
  message,
};

struct Field {
  enum Many : std::uint8_t { one, array, sequence };
  std::string name;
  Kind kind = Kind::uint8;
  Many many = one;
  std::uint64_t count = 1;  // of an array
  std::size_t type = 0;     // of a message: its index in the schema
};

struct MessageType {
  std::string name;  // "geometry_msgs/Pose"
  std::vector<Field> fields;
};

// The first is that of the messages; none contains itself.
using Schema = std::vector<MessageType>;

// "geometry_msgs/msg/Pose" without its middle part.
std::string short_name(std::string_view type);
// A definition of ROS, with those of the types in it behind lines of '='. Types that are missing are those of ROS itself, if they
// are known; with an empty text the type itself is. Code::format for an invalid text, Code::unsupported for types
// that are not known and for wide strings.
Schema parse_schema(const std::string& type, std::string_view text, const std::string& where);

// The definitions that are known, as one text of this form.
std::string_view known_definitions();

}  // namespace td::bags
