#include "core/distributed/reach.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

namespace td::distributed {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_tries{20};

int left_ms(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, std::min<std::int64_t>(left.count(), 1000)));
}

bool listens(const addrinfo& at, Clock::time_point until) {
  const int one =
      socket(at.ai_family, at.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at.ai_protocol);
  if (one < 0) return false;
  bool there = connect(one, at.ai_addr, at.ai_addrlen) == 0;
  if (!there && errno == EINPROGRESS) {
    pollfd waiting{one, POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;
    there = poll(&waiting, 1, left_ms(until)) == 1 &&
            getsockopt(one, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  }
  close(one);
  return there;
}

}  // namespace

void wait_for_listener(const Meeting& meeting) {
  const auto until = Clock::now() + std::chrono::milliseconds(meeting.timeout_ms);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  for (;;) {
    addrinfo* found = nullptr;
    const int unknown =
        getaddrinfo(meeting.host.c_str(), std::to_string(meeting.port).c_str(), &hints, &found);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, [](addrinfo* one) {
      if (one != nullptr) freeaddrinfo(one);
    });
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next)
      if (listens(*one, until)) return;
    if (Clock::now() >= until) {
      fail(Code::io, "rank ", meeting.rank, " of ", meeting.size, ": no meeting at tcp://",
           meeting.host, ":", meeting.port, " within ", meeting.timeout_ms,
           " ms: ", unknown != 0 ? gai_strerror(unknown) : "no process listens there",
           "; is rank 0 there?");
    }
    std::this_thread::sleep_for(between_tries);
  }
}

}  // namespace td::distributed
