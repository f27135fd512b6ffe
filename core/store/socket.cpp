// Non-blocking sockets: every wait has a limit, and no SIGPIPE is raised.
#include "core/store/connection.h"
#include "core/store/tls.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>

namespace td::store {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail_system(int error) {
  if (error == ENOMEM) throw std::bad_alloc();
  throw Broken{std::generic_category().message(error)};
}

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

class Socket final : public Transport {
 public:
  explicit Socket(int fd) : fd_(fd) {
    ::fcntl(fd_, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  ~Socket() override { ::close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // Returns 0, or the error number.
  int connect(const sockaddr* address, socklen_t size, Clock::time_point end) {
    if (::connect(fd_, address, size) == 0) return 0;
    if (errno != EINPROGRESS && errno != EINTR) return errno;
    for (;;) {
      using std::chrono::milliseconds;
      const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
      if (left <= 0) return ETIMEDOUT;
      struct pollfd ready {};
      ready.fd = fd_;
      ready.events = POLLOUT;
      constexpr std::int64_t longest = 1 << 30;
      const int found = ::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left, longest)));
      if (found < 0 && errno != EINTR) return errno;
      if (found <= 0) continue;
      int error = 0;
      socklen_t length = sizeof error;
      if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
      return error;
    }
  }

  // Requests are sent whole: Nagle's algorithm would only delay them.
  void send_at_once() {
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  Moved move(std::string_view out, char* in, std::size_t room, int wait_ms) override {
    Moved moved{0, 0};
    // Most requests fit into the socket's buffer without waiting.
    if (!out.empty()) moved.sent = send_some(out);
    if (moved.sent != 0) return moved;
    struct pollfd ready {};
    ready.fd = fd_;
    ready.events = static_cast<short>(POLLIN | (out.empty() ? 0 : POLLOUT));
    const int found = ::poll(&ready, 1, wait_ms);
    if (found < 0 && errno != EINTR) fail_system(errno);
    if (found <= 0 || (ready.revents & (POLLIN | POLLHUP | POLLERR)) == 0) return moved;
    const ssize_t got = ::recv(fd_, in, room, MSG_DONTWAIT);
    if (got == 0) throw Broken{"the server closed the connection"};
    if (got < 0 && !would_wait(errno)) fail_system(errno);
    if (got > 0) moved.received = static_cast<std::size_t>(got);
    return moved;
  }

 private:
  std::size_t send_some(std::string_view out) {
    const ssize_t sent = ::send(fd_, out.data(), out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    // The server may have sent a message before it closed: let the caller read it.
    if (would_wait(errno) || errno == EPIPE) return 0;
    fail_system(errno);
  }

  int fd_;
};

// Returns nullptr on failure; errno is set.
std::unique_ptr<Socket> open_socket(int family) {
  const int fd = ::socket(family, SOCK_STREAM, 0);
  if (fd < 0) return nullptr;
  try {
    return std::make_unique<Socket>(fd);
  } catch (...) {
    ::close(fd);
    throw;
  }
}

std::unique_ptr<Socket> connect_unix(const std::string& path, Clock::time_point end) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) fail_system(ENAMETOOLONG);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  auto socket = open_socket(AF_UNIX);
  if (socket == nullptr) fail_system(errno);
  const int error =
      socket->connect(reinterpret_cast<const sockaddr*>(&address), sizeof address, end);
  if (error != 0) fail_system(error);
  return socket;
}

struct FreeAddresses {
  void operator()(addrinfo* first) const noexcept { ::freeaddrinfo(first); }
};

// Tries each address of the host in the system's order.
std::unique_ptr<Socket> connect_host(const Options& options, Clock::time_point end) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int answer =
      ::getaddrinfo(options.host.c_str(), std::to_string(options.port).c_str(), &wanted, &found);
  if (answer == EAI_MEMORY) throw std::bad_alloc();
  if (answer == EAI_SYSTEM) fail_system(errno);
  if (answer != 0) throw Broken{::gai_strerror(answer)};
  const std::unique_ptr<addrinfo, FreeAddresses> first(found);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    auto socket = open_socket(at->ai_family);
    if (socket == nullptr) {
      error = errno;
      continue;
    }
    error = socket->connect(at->ai_addr, at->ai_addrlen, end);
    if (error != 0) continue;
    socket->send_at_once();
    return socket;
  }
  fail_system(error);
}

}  // namespace

std::unique_ptr<Transport> connect_socket(const Options& options) {
  // Waiting "for ever" uses a limit that poll() accepts.
  constexpr std::int64_t longest_ms = 1'000'000'000;
  const std::int64_t ms =
      options.timeout_ms < 0 ? longest_ms : std::min(options.timeout_ms, longest_ms);
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(ms);
  std::unique_ptr<Transport> socket = options.unix_socket.empty()
                                          ? connect_host(options, end)
                                          : connect_unix(options.unix_socket, end);
  if (options.tls.on) return over_tls(std::move(socket), options);
  return socket;
}

}  // namespace td::store
