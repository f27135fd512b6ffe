// core/base/pipe_signal.h: no SIGPIPE, which ends a process, from what writes to pipes and sockets without a flag against it.
#pragma once

#include <pthread.h>
#include <cerrno>
#include <csignal>

namespace td {

// Blocks the signal in this thread and consumes one that is raised meanwhile. Threads that are started meanwhile never get it.
class NoPipeSignal {
 public:
  NoPipeSignal() noexcept {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    // Otherwise it could not wait.
    if (sigismember(&before_, SIGPIPE) == 1) {
      sigset_t pending;
      sigpending(&pending);
      was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    }
  }
  ~NoPipeSignal() {
    const int error = errno;
    const timespec at_once{0, 0};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace td
