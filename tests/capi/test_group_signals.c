/* gloo writes to sockets without a flag against SIGPIPE, which ends a process whose peer is gone. Whether it comes depends on
 * microseconds; so each write is looked at: the signal must be blocked in its thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "td_group_test.h"

static atomic_int writes, bare;

static void look(void) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  atomic_fetch_add(&writes, 1);
  if (sigismember(&now, SIGPIPE) != 1) atomic_fetch_add(&bare, 1);
}

/* gloo finds this one before libc's. */
ssize_t writev(int file, const struct iovec *parts, int count) {
  look();
  return syscall(SYS_writev, file, parts, count);
}

static void all_kinds_of_calls(td_group *group, int rank) {
  td_tensordict *td = group_dict(rank), *result = NULL;
  td_future *future = NULL;
  if (rank == 0) {
    TD_DO(td_group_send(group, td, 1, NULL));
    TD_DO(td_group_recv(group, td, 1, NULL));
  } else {
    TD_DO(td_group_recv(group, td, 0, NULL));
    TD_DO(td_group_send(group, td, 0, NULL));
  }
  TD_DO(td_group_broadcast(group, td, 0, NULL, &result));
  td_free(result);
  TD_DO(td_group_all_reduce(group, td, TD_GROUP_OP_SUM, NULL));
  TD_DO(td_group_ibroadcast(group, td, 0, NULL, &future));
  td_free(group_result(future));
  TD_DO(td_group_barrier(group, NULL));
  td_free(td);
}

TD_TEST(the_signal_is_blocked_where_gloo_writes) {
  sigset_t before, after;
  pthread_sigmask(SIG_BLOCK, NULL, &before);
  in_ranks(2, all_kinds_of_calls);
  pthread_sigmask(SIG_BLOCK, NULL, &after);
  TD_CHECK(atomic_load(&writes) > 0);
  TD_CHECK_INT(atomic_load(&bare), 0);
  TD_CHECK_INT(sigismember(&after, SIGPIPE), sigismember(&before, SIGPIPE));
}

/* A signal of the program's own stays where it was. */
TD_TEST(a_signal_that_waits_goes_on_to_wait) {
  sigset_t pipe, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, NULL);
  raise(SIGPIPE);
  in_ranks(2, all_kinds_of_calls);
  sigpending(&pending);
  TD_CHECK_INT(sigismember(&pending, SIGPIPE), 1);
}
