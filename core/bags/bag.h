// core/bags/bag.h: the messages of a file that ROS 2 recorded, undecoded.
#pragma once

#include "core/formats/plain.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace td::bags {

// Where a message is: in a chunk, or in the file itself.
struct Place {
  static constexpr std::uint32_t no_chunk = UINT32_MAX;
  std::int64_t time;  // when it was recorded, in nanoseconds
  std::uint64_t at;   // a byte of the chunk or of the file; the number of a row
  std::uint32_t chunk = no_chunk;
};

struct Topic {
  std::string name, type;       // "/robot/imu", "sensor_msgs/msg/Imu"
  std::string encoding;         // of the messages: "cdr"
  std::string schema_encoding;  // "ros2msg"; empty: there is no schema
  std::string schema;
  std::vector<Place> messages;  // ordered by time, those of one time as in the file
};

// What one reader keeps between messages: the chunk that it has unpacked last.
struct Unpacked {
  std::uint32_t chunk = Place::no_chunk;
  std::string bytes;
};

// Not changed once it is open; several threads read it.
class Bag {
 public:
  virtual ~Bag() = default;

  std::string where;  // the quoted path
  std::string name;   // of the file
  std::vector<Topic> topics;
  std::string library;  // that wrote it; may be empty
  std::string cut;      // why not all of it could be read; empty: it is whole
  Plain notes;          // further metadata: an object, or null

  // The bytes of a message, until `unpacked` is used again.
  virtual std::string_view message(std::size_t topic, const Place& place,
                                   Unpacked& unpacked) const = 0;
};

// MCAP or SQLite, by the first bytes of the file. A file that is cut short gives what is whole. `max_bytes` limits what is unpacked
// at once; 0: 1,100 times the size of the file and 64 MB. Code::format for damaged files and others;
// Code::unsupported for unknown compression, and without a library that is needed.
std::unique_ptr<Bag> open_bag(const std::string& path, std::uint64_t max_bytes);
// Looks at the first bytes only.
bool is_bag(const std::string& path);
bool is_mcap(const std::string& path);

// Where the whole records of a file of MCAP end.
struct McapEnd {
  bool is_whole = false;     // the file has an end
  std::uint64_t kept = 0;    // bytes
  std::string records;       // of a chunk that is cut and not compressed, with whole messages
  std::int64_t rescued = 0;  // messages in them
  std::uint64_t left = 0;    // bytes that are no whole record
};
McapEnd find_end(const std::string& path);
// A file with what is whole of another, and an end without a summary.
void write_end(const std::string& path, const std::string& out, const McapEnd& end, bool durable);

std::unique_ptr<Bag> open_mcap(const std::string& path, std::uint64_t max_bytes);
std::unique_ptr<Bag> open_sqlite(const std::string& path, std::uint64_t max_bytes);

}  // namespace td::bags
