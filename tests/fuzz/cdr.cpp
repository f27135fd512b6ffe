// Messages of ROS 2: a definition, a zero, and messages with a byte of length each.
#include "fuzz.h"

#include "core/bags/topic_decoder.h"
#include "core/base/error.h"

#include <cstring>

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  const std::size_t end = bytes.find('\0');
  if (end == std::string_view::npos) return 0;
  static const char *const types[] = {"a/Top", "sensor_msgs/Image", "sensor_msgs/CompressedImage"};
  const td::bags::Topic topic{
      "/t", types[size % 3], "cdr", "ros2msg", std::string(bytes.substr(0, end)), {}};
  std::vector<std::string> messages;
  for (std::string_view rest = bytes.substr(end + 1); !rest.empty();) {
    const std::size_t length = static_cast<unsigned char>(rest[0]);
    messages.emplace_back(rest.substr(1, length));
    rest.remove_prefix(std::min(rest.size(), 1 + length));
  }
  try {
    td::bags::TopicDecoder decoder(topic, "a topic", size % 2 == 0, 1 << 16, 1000);
    for (const std::string &message : messages) decoder.look(message);
    if (messages.empty()) return 0;
    decoder.settle();
    auto rows = decoder.make_rows(static_cast<std::int64_t>(messages.size()));
    for (std::size_t i = 0; i < messages.size(); ++i)
      decoder.decode(messages[i], rows, static_cast<std::int64_t>(i));
    FUZZ_CHECK(rows.size() == decoder.columns().size());
  } catch (const td::Error &error) {
    FUZZ_CHECK(error.what()[0] != '\0' && std::strchr(error.what(), '\n') == nullptr);
  }
  return 0;
}
