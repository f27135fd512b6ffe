// A connection that hiredis makes. Bytes are moved here: hiredis' own functions raise SIGPIPE in the process, and wait
// without end for a server that sends a byte now and then.
#include "core/store/connection.h"
#include "core/store/tls.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace td::store {

namespace {

struct FreeContext {
  void operator()(redisContext* context) const noexcept { redisFree(context); }
};

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

class Socket final : public Transport {
 public:
  explicit Socket(redisContext* context) : context_(context) {}

  Moved move(std::string_view out, char* in, std::size_t room, int wait_ms) override {
    Moved moved{0, 0};
    // Most requests fit what the system buffers, and nothing need be waited for.
    if (!out.empty()) moved.sent = send_some(out);
    if (moved.sent != 0) return moved;
    struct pollfd ready {};
    ready.fd = context_->fd;
    ready.events = static_cast<short>(POLLIN | (out.empty() ? 0 : POLLOUT));
    const int found = ::poll(&ready, 1, wait_ms);
    if (found < 0 && errno != EINTR) throw Broken{std::strerror(errno)};
    if (found <= 0 || (ready.revents & (POLLIN | POLLHUP | POLLERR)) == 0) return moved;
    const ssize_t got = ::recv(context_->fd, in, room, MSG_DONTWAIT);
    if (got == 0) throw Broken{"the server closed the connection"};
    if (got < 0 && !would_wait(errno)) throw Broken{std::strerror(errno)};
    if (got > 0) moved.received = static_cast<std::size_t>(got);
    return moved;
  }

 private:
  std::size_t send_some(std::string_view out) {
    const ssize_t sent = ::send(context_->fd, out.data(), out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    // What the server said before it closed may still be there to be read.
    if (would_wait(errno) || errno == EPIPE) return 0;
    throw Broken{std::strerror(errno)};
  }

  std::unique_ptr<redisContext, FreeContext> context_;
};

}  // namespace

std::unique_ptr<Transport> connect_socket(const Options& options) {
  // Without a limit hiredis waits as long as the system does.
  constexpr std::int64_t longest_ms = 1'000'000'000;
  const std::int64_t ms =
      options.timeout_ms < 0 ? longest_ms : std::min(options.timeout_ms, longest_ms);
  struct timeval limit {};
  limit.tv_sec = static_cast<time_t>(ms / 1000);
  limit.tv_usec = static_cast<suseconds_t>(ms % 1000 * 1000);
  redisContext* context =
      options.unix_socket.empty()
          ? redisConnectWithTimeout(options.host.c_str(), static_cast<int>(options.port), limit)
          : redisConnectUnixWithTimeout(options.unix_socket.c_str(), limit);
  if (context == nullptr) throw std::bad_alloc();
  auto socket = std::make_unique<Socket>(context);
  if (context->err != 0) throw Broken{context->errstr};
  if (options.tls.on) return over_tls(std::move(socket), options);
  return socket;
}

}  // namespace td::store
