#include "core/distributed/address.h"

#include "core/formats/json_text.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace td::distributed {

namespace {

std::int64_t number(std::string_view text, const char* what, std::int64_t last) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > last) {
    fail(Code::invalid_argument, what, " is ", quote(text), ", not a number from 0 to ", last);
  }
  return value;
}

constexpr std::int64_t last_rank = 1 << 20;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') {
    fail(Code::invalid_argument, "env:// needs MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE; ",
         name, " is not set");
  }
  return value;
}

// Parses what follows the question mark; ignores options that only Python knows.
void read_query(std::string_view query, GroupOptions& options) {
  for (std::size_t begin = 0, end = 0; begin < query.size(); begin = end + 1) {
    end = std::min(query.find('&', begin), query.size());
    const std::string_view item = query.substr(begin, end - begin);
    const std::size_t sign = std::min(item.find('='), item.size());
    const std::string_view name = item.substr(0, sign);
    const std::string_view value = item.substr(std::min(sign + 1, item.size()));
    if (name == "rank") options.rank = static_cast<int>(number(value, "rank", last_rank));
    if (name == "world_size") {
      options.size = static_cast<int>(number(value, "world_size", last_rank));
    }
  }
}

void read_host(std::string_view address, Meeting& meeting) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    fail(Code::invalid_argument, "the url is tcp://", address, ", not tcp://HOST:PORT");
  }
  std::string_view host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  meeting.host = host;
  meeting.port = static_cast<std::uint16_t>(number(address.substr(colon + 1), "the port", 65535));
}

}  // namespace

Meeting meeting_of(const GroupOptions& given) {
  GroupOptions options = given;
  if (!options.backend.empty() && options.backend != "gloo") {
    fail(Code::unsupported, "the back-end ", quote(options.backend), " is not there; \"gloo\" is");
  }
  std::string_view url = options.url;
  const std::size_t question = url.find('?');
  const bool asked = options.size != 0;
  if (question != std::string_view::npos) {
    GroupOptions queried;
    queried.rank = options.rank;
    queried.size = options.size;
    read_query(url.substr(question + 1), queried);
    if (!asked) {
      options.rank = queried.rank;
      options.size = queried.size;
    }
    url = url.substr(0, question);
  }
  Meeting meeting;
  const auto begins = [&](std::string_view scheme) {
    return url.substr(0, scheme.size()) == scheme;
  };
  if (begins("env://")) {
    meeting.host = variable("MASTER_ADDR");
    meeting.port =
        static_cast<std::uint16_t>(number(variable("MASTER_PORT"), "MASTER_PORT", 65535));
    if (options.size == 0) {
      options.rank = static_cast<int>(number(variable("RANK"), "RANK", last_rank));
      options.size = static_cast<int>(number(variable("WORLD_SIZE"), "WORLD_SIZE", last_rank));
    }
  } else if (begins("tcp://")) {
    read_host(url.substr(6), meeting);
  } else if (begins("file://")) {
    meeting.kind = Meeting::Kind::file;
    meeting.path = url.substr(7);
    if (meeting.path.empty() || meeting.path[0] != '/') {
      fail(Code::invalid_argument, "the url is ", quote(options.url), ", not file:///PATH");
    }
  } else {
    fail(Code::invalid_argument, "the url is ", quote(options.url),
         "; tcp://HOST:PORT, file:///PATH and env:// are valid");
  }
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    fail(Code::invalid_argument, "rank ", options.rank, " of a group of ", options.size,
         ": a rank is from 0 to one less than the size");
  }
  if (options.timeout_ms < 0) {
    fail(Code::invalid_argument, "a limit of ", options.timeout_ms, " ms");
  }
  meeting.name = options.name.empty() ? "0" : options.name;
  meeting.device = options.device;
  if (meeting.device.empty()) {
    const char* device = std::getenv("GLOO_SOCKET_IFNAME");  // as in Python
    if (device != nullptr && std::string_view(device).find(',') == std::string_view::npos) {
      meeting.device = device;
    }
  }
  meeting.rank = options.rank;
  meeting.size = options.size;
  meeting.timeout_ms = options.timeout_ms == 0 ? 300000 : options.timeout_ms;
  return meeting;
}

}  // namespace td::distributed
