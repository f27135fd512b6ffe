// Messages over a file descriptor. Handles short reads and writes, interruptions, non-blocking
// descriptors, time limits and closed peers.
#include "core/base/pipe_signal.h"
#include "core/consolidated/message.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <system_error>

namespace td {

namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 30;
constexpr std::size_t pipe_atom = 4096;  // bytes that fit into a pipe that poll() calls writable

std::int64_t now() {
  using std::chrono::milliseconds;
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(since).count();
}

[[noreturn]] void fail_transfer(const char* what, int error) {
  fail(Code::io, "cannot ", what, " the message: ", std::generic_category().message(error));
}

}  // namespace

FileTransport::FileTransport(int file, std::int64_t timeout_ms)
    : file_(file), timed_(timeout_ms != 0) {
  if (timeout_ms < 0) fail(Code::invalid_argument, "a time limit of ", timeout_ms, " milliseconds");
  struct stat info {};
  if (::fstat(file, &info) != 0) {
    fail(Code::io, "file descriptor ", file, ": ", std::generic_category().message(errno));
  }
  socket_ = S_ISSOCK(info.st_mode);
  const std::int64_t start = now();
  deadline_ = timeout_ms > std::numeric_limits<std::int64_t>::max() - start
                  ? std::numeric_limits<std::int64_t>::max()
                  : start + timeout_ms;
}

void FileTransport::wait(short events) const {
  for (;;) {
    int limit = -1;
    if (timed_) {
      const std::int64_t left = deadline_ - now();
      if (left <= 0) {
        fail(Code::io, "the message timed out: ", std::generic_category().message(ETIMEDOUT));
      }
      limit = static_cast<int>(std::min<std::int64_t>(left, std::numeric_limits<int>::max()));
    }
    pollfd asked{file_, events, 0};
    const int ready = ::poll(&asked, 1, limit);
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) fail_transfer("wait for", errno);
  }
}

void FileTransport::write(const char* data, std::size_t bytes) {
  std::optional<NoPipeSignal> signal;  // sockets have a flag instead
  if (!socket_) signal.emplace();
  while (bytes != 0) {
    if (timed_) wait(POLLOUT);
    std::size_t piece = std::min(bytes, most_at_once);
    if (timed_ && !socket_) piece = std::min(piece, pipe_atom);
    const ssize_t n = socket_
                          ? ::send(file_, data, piece, MSG_NOSIGNAL | (timed_ ? MSG_DONTWAIT : 0))
                          : ::write(file_, data, piece);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) fail_transfer("write", errno);
      wait(POLLOUT);
      continue;
    }
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

void FileTransport::read(char* data, std::size_t bytes) {
  while (bytes != 0) {
    if (timed_) wait(POLLIN);
    const ssize_t n = ::read(file_, data, std::min(bytes, most_at_once));
    if (n == 0) fail(Code::io, "the message ends too early: ", bytes, " bytes are missing");
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) fail_transfer("read", errno);
      wait(POLLIN);
      continue;
    }
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

}  // namespace td
