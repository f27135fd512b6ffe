/* td_liar.h: a server that says what a test gives it, whatever it is asked. */
#ifndef TD_LIAR_H
#define TD_LIAR_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "td_test.h"

/* Limits of time: of calls that must reach them, and of those that get an answer, however slow the machine is. */
enum { soon_ms = 200, late_ms = 60000 };

/* A server that answers each connection with these bytes, whatever it is asked, and then closes or waits. */
struct td_liar {
  int fd, wait;
  const char *bytes;
  size_t size;
};

/* Sends the bytes one by one, with a pause before each. */
static int td_liar_pause_ms;
/* At a form feed, waits for another request. */
static int td_liar_takes_turns;

static inline void *td_lie(void *argument) {
  struct td_liar *liar = (struct td_liar *)argument;
  for (;;) {
    const int one = accept(liar->fd, NULL, NULL);
    if (one < 0) return NULL;
    char asked[4096];
    if (read(one, asked, sizeof asked) <= 0) {
      close(one);
      continue;
    }
    for (size_t sent = 0; sent < liar->size;) {
      const char *from = liar->bytes + sent;
      if (td_liar_takes_turns && *from == '\f') {
        if (read(one, asked, sizeof asked) <= 0) break;
        sent++;
        continue;
      }
      const char *stop =
          td_liar_takes_turns ? (const char *)memchr(from, '\f', liar->size - sent) : NULL;
      size_t size = stop == NULL ? liar->size - sent : (size_t)(stop - from);
      if (td_liar_pause_ms != 0) {
        const struct timespec pause = {0, td_liar_pause_ms * 1000000L};
        nanosleep(&pause, NULL);
        size = 1;
      }
      const ssize_t n = send(one, from, size, MSG_NOSIGNAL);
      if (n <= 0) break;
      sent += (size_t)n;
    }
    if (liar->wait) {
      while (read(one, asked, sizeof asked) > 0) {
      }
    }
    close(one);
  }
}

/* Opens a dictionary there, and loads it: neither may do. */
static inline td_status td_opened_from(const char *bytes, size_t size, int wait_ms, int tls) {
  char folder[] = "/tmp/td-liar-XXXXXX";
  struct sockaddr_un address = {0};
  pthread_t thread;
  struct td_liar liar = {socket(AF_UNIX, SOCK_STREAM, 0), wait_ms != 0, bytes, size};
  TD_CHECK(mkdtemp(folder) != NULL);
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof address.sun_path, "%s/s", folder);
  TD_CHECK_INT(bind(liar.fd, (struct sockaddr *)&address, sizeof address), 0);
  TD_CHECK_INT(listen(liar.fd, 4), 0);
  TD_CHECK_INT(pthread_create(&thread, NULL, td_lie, &liar), 0);
  td_store_options options = TD_STORE_OPTIONS_INIT;
  options.unix_socket = address.sun_path;
  options.id = "x";
  options.tls = tls;
  options.timeout_ms = wait_ms == 0 ? late_ms : wait_ms;
  td_store *store = TD_POISON;
  td_tensordict *td = NULL;
  td_status status = td_store_open(&options, &store);
  if (status == TD_OK) {
    status = td_store_load(store, &td);
    TD_CHECK(status != TD_OK);
    td_store_free(store);
  } else {
    TD_CHECK(store == NULL);
  }
  shutdown(liar.fd, SHUT_RDWR);
  close(liar.fd);
  pthread_join(thread, NULL);
  unlink(address.sun_path);
  rmdir(folder);
  return status;
}

#endif
